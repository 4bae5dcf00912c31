"""Linkages in Warp: signals of joints become those of the shafts, and efforts of the shafts those at the joints.

A thread per robot and linkage. The core has the same in `native/linkage.h`, with the same bits.
"""

# Warp kernels are no Python types
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false, reportAssignmentType=false, reportArgumentType=false
# pyright: reportAttributeAccessIssue=false, reportOperatorIssue=false, reportReturnType=false, reportCallIssue=false

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import warp as wp

from ...specs.linkage import MOST_JOINTS
from ..linkages import PlannedLinkage

wp.set_module_options({"enable_backward": False, "fuse_fp": False})

Row = wp.types.vector(MOST_JOINTS, wp.float32)
Square = wp.types.matrix((MOST_JOINTS, MOST_JOINTS), wp.float32)


@wp.struct
class Links:
    """Linkages as arrays: a row per linkage, with room for `MOST_JOINTS` joints."""

    count: wp.array[int]
    slots: wp.array2d[int]
    own: wp.array2d[int]
    pulls: wp.array2d[int]
    matrix: wp.array[Square]
    inverse: wp.array[Square]
    offset: wp.array[Row]
    inertia: wp.array[Row]
    lower: wp.array[Row]
    spacing: wp.array[Row]
    per_spacing: wp.array[Row]
    rows: wp.array2d[int]
    nodes: wp.array[float]
    first: wp.array[int]
    """First number of its nodes, -1 for a linear linkage."""
    turns: wp.array[int]
    """1 for a table of shafts with rotors, whose inertia acts as the slopes change."""


def links_of(linkages: Sequence[PlannedLinkage], device: wp.DeviceLike) -> Links:
    """Return the linkages of a plan on a device."""
    found, sizes = Links(), [one.nodes.size for one in linkages]
    first = np.cumsum([0, *sizes[:-1]])

    def padded(name: str, dtype: type) -> np.ndarray:
        shape = [MOST_JOINTS] * np.ndim(getattr(linkages[0], name))
        rows = np.zeros((len(linkages), *shape), dtype)
        for row, one in zip(rows, linkages, strict=True):
            values = np.asarray(getattr(one, name))
            row[tuple(map(slice, values.shape))] = values
        return rows

    for name in ("slots", "own", "pulls", "rows"):
        setattr(found, name, wp.array(padded(name, np.int32), dtype=wp.int32, ndim=2, device=device))
    for name in ("matrix", "inverse"):
        setattr(found, name, wp.array(padded(name, np.float32), dtype=Square, device=device))
    for name in ("offset", "inertia", "lower", "spacing", "per_spacing"):
        setattr(found, name, wp.array(padded(name, np.float32), dtype=Row, device=device))
    found.count = wp.array([len(one.slots) for one in linkages], dtype=wp.int32, device=device)
    found.first = wp.array(np.where(sizes, first, -1), dtype=wp.int32, device=device)
    turns = [size > 0 and one.inertia.any() for size, one in zip(sizes, linkages, strict=True)]
    found.turns = wp.array(turns, dtype=wp.int32, device=device)
    found.nodes = wp.array(np.concatenate([one.nodes.ravel() for one in linkages]), dtype=wp.float32, device=device)
    return found


@wp.func
def turned(slopes: Square, i: int, count: int, v: Row):
    """Return the change of shaft `i` with changes of the joints."""
    total = slopes[i, 0] * v[0]
    for j in range(1, count):
        total += slopes[i, j] * v[j]
    return total


@wp.func
def shafts_at(links: Links, n: int, q: Row):
    """Return the angles of the shafts, and their change with each joint."""
    count = links.count[n]
    angles = Row()
    slopes = links.matrix[n]
    if links.first[n] < 0:
        for i in range(count):
            angles[i] = turned(slopes, i, count, q) + links.offset[n][i]
        return angles, slopes
    part = Row()
    beyond = Row()
    cells = Row()
    for j in range(count):
        last = float(links.rows[n, j] - 1)
        at = (q[j] - links.lower[n][j]) * links.per_spacing[n][j]
        inside = wp.float32(0.0)
        if at >= 0.0:
            inside = wp.where(at <= last, at, last)
        cell = wp.min(int(inside), links.rows[n, j] - 2)
        part[j] = inside - float(cell)
        beyond[j] = (at - inside) * links.spacing[n][j]
        cells[j] = float(cell)
    width = count * (1 + count)
    # one joint: there is no neighbour across
    across = wp.where(count == 2, width, 0)
    columns = wp.where(count == 2, links.rows[n, 1], 1)
    low = links.first[n] + (int(cells[0]) * columns + int(cells[1])) * width
    high = low + columns * width
    for i in range(count):
        for k in range(count + 1):
            m = i * (1 + count) + k
            first = links.nodes[low + m] + (links.nodes[low + m + across] - links.nodes[low + m]) * part[1]
            second = links.nodes[high + m] + (links.nodes[high + m + across] - links.nodes[high + m]) * part[1]
            value = first + (second - first) * part[0]
            if k == 0:
                angles[i] = value
            else:
                slopes[i, k - 1] = value
    for i in range(count):
        for j in range(count):
            angles[i] += slopes[i, j] * beyond[j]
    return angles, slopes


@wp.func
def at_shaft(links: Links, n: int, slopes: Square, joint: Row):
    """Return the efforts of the shafts that have given efforts at the joints."""
    count = links.count[n]
    shaft = Row()
    if links.first[n] < 0:
        inverse = links.inverse[n]
        for i in range(count):
            total = inverse[0, i] * joint[0]
            for j in range(1, count):
                total += inverse[j, i] * joint[j]
            shaft[i] = total
    elif count == 1:
        shaft[0] = joint[0] / slopes[0, 0]
    else:
        determinant = slopes[0, 0] * slopes[1, 1] - slopes[0, 1] * slopes[1, 0]
        shaft[0] = (slopes[1, 1] * joint[0] - slopes[1, 0] * joint[1]) / determinant
        shaft[1] = (slopes[0, 0] * joint[1] - slopes[0, 1] * joint[0]) / determinant
    return shaft


@wp.func
def taken(values: wp.array2d[float], robot: int, links: Links, n: int):
    """Return a signal of the joints of a linkage."""
    found = Row()
    for k in range(links.count[n]):
        found[k] = values[robot, links.slots[n, k]]
    return found


@wp.kernel
def link_in_kernel(
    links: Links,
    q: wp.array2d[float],
    qd: wp.array2d[float],
    q_target: wp.array2d[float],
    qd_target: wp.array2d[float],
    ff: wp.array2d[float],
):
    """Replace signals of linked joints by those of the shafts of their motors, in arrays `(robots, slots)`."""
    robot, n = wp.tid()
    count = links.count[n]
    v = taken(qd, robot, links, n)
    v_wanted = taken(qd_target, robot, links, n)
    angles, slopes = shafts_at(links, n, taken(q, robot, links, n))
    wanted, slopes_wanted = shafts_at(links, n, taken(q_target, robot, links, n))
    forward = at_shaft(links, n, slopes, taken(ff, robot, links, n))
    for i in range(count):
        slot = links.slots[n, i]
        q[robot, slot] = angles[i]
        qd[robot, slot] = turned(slopes, i, count, v)
        if links.own[n, i] == 0:
            q_target[robot, slot] = wanted[i]
            qd_target[robot, slot] = turned(slopes_wanted, i, count, v_wanted)
            ff[robot, slot] = forward[i]


@wp.kernel
def link_out_kernel(
    links: Links,
    dt: wp.array[float],
    q: wp.array2d[float],
    qd: wp.array2d[float],
    efforts: wp.array2d[float],
    stage: int,
    limited_by: wp.array2d[int],
):
    """Replace efforts of shafts by those of the linked joints; all of a linkage NaN if one is.

    A cable that is slack limits its motor; `stage` is its number among the limits, 0 if nobody records them.
    """
    robot, n = wp.tid()
    count = links.count[n]
    position = taken(q, robot, links, n)
    v = taken(qd, robot, links, n)
    shaft = taken(efforts, robot, links, n)
    for i in range(count):
        if links.pulls[n, i] == 1 and shaft[i] < 0.0:
            shaft[i] = 0.0
            if stage > 0:
                limited_by[robot, links.slots[n, i]] = stage
    _, slopes = shafts_at(links, n, position)
    if links.turns[n] == 1:
        ahead = Row()
        for j in range(count):
            ahead[j] = position[j] + dt[0] * v[j]
        _, then = shafts_at(links, n, ahead)
        for i in range(count):
            change = (then[i, 0] - slopes[i, 0]) * v[0]
            for j in range(1, count):
                change += (then[i, j] - slopes[i, j]) * v[j]
            shaft[i] = shaft[i] - links.inertia[n][i] * (change / dt[0])
    for j in range(count):
        total = slopes[0, j] * shaft[0]
        for i in range(1, count):
            total += slopes[i, j] * shaft[i]
        if not wp.isfinite(total):
            total = wp.nan
        efforts[robot, links.slots[n, j]] = total
