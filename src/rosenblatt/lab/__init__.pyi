from rosenblatt.lab.document import Document as Document
from rosenblatt.lab.page import page_text as page_text
from rosenblatt.lab.page import write_page as write_page
from rosenblatt.lab.toy_sets import toy_set as toy_set
from rosenblatt.lab.widget import Lab as Lab
