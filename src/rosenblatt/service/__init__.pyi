from rosenblatt.service.server import create_app as create_app
