from rosenblatt.tracing.convergence import ProofStep as ProofStep
from rosenblatt.tracing.steps import Step as Step
from rosenblatt.tracing.steps import Trace as Trace
from rosenblatt.tracing.stepwise import trace as trace
