from rosenblatt.distributed.classifiers import DaskAveragedPerceptron as DaskAveragedPerceptron
from rosenblatt.distributed.classifiers import (
    DaskConfidenceWeightedClassifier as DaskConfidenceWeightedClassifier,
)
from rosenblatt.distributed.classifiers import (
    DaskPassiveAggressiveClassifier as DaskPassiveAggressiveClassifier,
)
from rosenblatt.distributed.classifiers import DaskPerceptron as DaskPerceptron
from rosenblatt.distributed.cluster import local_client as local_client
from rosenblatt.distributed.cluster import remote_client as remote_client
from rosenblatt.distributed.mixing import simulate as simulate
from rosenblatt.distributed.shards import ShardWarning as ShardWarning
