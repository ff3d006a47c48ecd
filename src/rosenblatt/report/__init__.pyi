from rosenblatt.report.fitted import html_report as html_report
from rosenblatt.report.fitted import write_report as write_report
