"""What is reported of an input or effort that was not finite; see `step.fault`."""

from .step.fault import EFFORT_FAULT, FAULT_INPUTS, Fault, fault_bit, fault_of, faults_of

__all__ = ["EFFORT_FAULT", "FAULT_INPUTS", "Fault", "fault_bit", "fault_of", "faults_of"]
