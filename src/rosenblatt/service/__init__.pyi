from rosenblatt.service.client import Client as Client
from rosenblatt.service.client import ServiceError as ServiceError
from rosenblatt.service.server import create_app as create_app
