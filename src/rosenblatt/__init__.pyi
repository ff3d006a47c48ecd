from rosenblatt.estimators import AveragedPerceptron as AveragedPerceptron
from rosenblatt.estimators import ConfidenceWeightedClassifier as ConfidenceWeightedClassifier
from rosenblatt.estimators import MultilabelClassifier as MultilabelClassifier
from rosenblatt.estimators import PassiveAggressiveClassifier as PassiveAggressiveClassifier
from rosenblatt.estimators import Perceptron as Perceptron
from rosenblatt.estimators import RuleClassifier as RuleClassifier
from rosenblatt.estimators import VotedPerceptron as VotedPerceptron
from rosenblatt.estimators.classifier import Classifier as Classifier
from rosenblatt.estimators.conjunctions import FeatureConjunctions as FeatureConjunctions
from rosenblatt.estimators.encoders import TableEncoder as TableEncoder
from rosenblatt.estimators.encoders import TextEncoder as TextEncoder
from rosenblatt.estimators.kernel import KernelPerceptron as KernelPerceptron
from rosenblatt.estimators.pipelines import explain as explain
from rosenblatt.estimators.sequences import SequencePerceptron as SequencePerceptron
from rosenblatt.estimators.storage import load as load
from rosenblatt.estimators.storage import save as save
from rosenblatt.estimators.storage import train_files as train_files
from rosenblatt.models.explanation import why as why
from rosenblatt.models.guarantee import guarantee as guarantee
from rosenblatt.models.online import OnlineLearner as OnlineLearner
from rosenblatt.models.pruning import prune as prune
from rosenblatt.theory.diagnosis import diagnose as diagnose
from rosenblatt.theory.margin import margin as margin
from rosenblatt.tracing import trace as trace
from rosenblatt.tuning.audit import audit as audit
from rosenblatt.tuning.tune import tune as tune

__all__: list[str]  # noqa: PYI035  # made from these lines
__version__: str
