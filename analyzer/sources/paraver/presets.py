"""PAPI's presets by Extrae's event types: the names of counters where no .pcf names them.

Source: PAPI's papiStdEventDefs.h, the order of the presets. Extrae adds the lower 16 bits of a preset's code to
42000000.
"""

from __future__ import annotations

import numpy as np

from analyzer.sources.paraver.labels import Labels
from tracelib.schema import PAPI_PRESET_BASE

_NAMES = [
    "L1_DCM",
    "L1_ICM",
    "L2_DCM",
    "L2_ICM",
    "L3_DCM",
    "L3_ICM",
    "L1_TCM",
    "L2_TCM",
    "L3_TCM",
    "CA_SNP",
    "CA_SHR",
    "CA_CLN",
    "CA_INV",
    "CA_ITV",
    "L3_LDM",
    "L3_STM",
    "BRU_IDL",
    "FXU_IDL",
    "FPU_IDL",
    "LSU_IDL",
    "TLB_DM",
    "TLB_IM",
    "TLB_TL",
    "L1_LDM",
    "L1_STM",
    "L2_LDM",
    "L2_STM",
    "BTAC_M",
    "PRF_DM",
    "L3_DCH",
    "TLB_SD",
    "CSR_FAL",
    "CSR_SUC",
    "CSR_TOT",
    "MEM_SCY",
    "MEM_RCY",
    "MEM_WCY",
    "STL_ICY",
    "FUL_ICY",
    "STL_CCY",
    "FUL_CCY",
    "HW_INT",
    "BR_UCN",
    "BR_CN",
    "BR_TKN",
    "BR_NTK",
    "BR_MSP",
    "BR_PRC",
    "FMA_INS",
    "TOT_IIS",
    "TOT_INS",
    "INT_INS",
    "FP_INS",
    "LD_INS",
    "SR_INS",
    "BR_INS",
    "VEC_INS",
    "RES_STL",
    "FP_STAL",
    "TOT_CYC",
    "LST_INS",
    "SYC_INS",
]
PRESETS = {PAPI_PRESET_BASE + code: f"PAPI_{name}" for code, name in enumerate(_NAMES)}
"""Event type -> name of the preset."""


def preset_types(types: np.ndarray) -> set[int]:
    """Which of some event types are presets."""
    last = PAPI_PRESET_BASE + len(_NAMES)
    return set(np.unique(types[(types >= PAPI_PRESET_BASE) & (types < last)]).tolist())


def with_presets(labels: Labels, seen: set[int]) -> Labels:
    """Labels with the names of presets that were seen and have none."""
    return {**{type_: (PRESETS[type_], {}) for type_ in sorted(seen)}, **labels} if seen - set(labels) else labels
