// The rows of a call tree: unfolded calls, and runs of equal calls as one row.
import type { Node } from './tree.ts';

export interface Row {
  node: Node;
  depth: number;
  /** The position in the tree, which does not depend on what is unfolded. */
  id: string;
  isOpen: boolean;
  /** How many calls like the one above the row stands for. */
  more?: number;
}

/** The least number of equal calls in sequence that are folded into one. */
const MIN_RUN = 4;

/** How many calls from an index on have the same shape. */
function runLength(calls: Node[], from: number): number {
  let to = from + 1;
  while (to < calls.length && calls[to]?.shape === calls[from]?.shape) to += 1;
  return to - from;
}

/** The rows from the top down. `isOpen` says whether the calls below a call are shown, or all calls of a run. */
export function rowsOf(root: Node, isOpen: (id: string, node: Node, depth: number, isRun: boolean) => boolean): Row[] {
  const rows: Row[] = [];
  const add = (node: Node, depth: number, id: string): void => {
    const open = node.calls.length > 0 && isOpen(id, node, depth, false);
    rows.push({ node, depth, id, isOpen: open });
    if (!open) return;
    for (let at = 0; at < node.calls.length;) {
      const run = runLength(node.calls, at);
      const runId = `${id}.${at}+`;
      const isLong = run >= MIN_RUN;
      const shown = isLong && !isOpen(runId, node, depth, true) ? 1 : run;
      for (const [index, call] of node.calls.slice(at, at + shown).entries()) {
        add(call, depth + 1, `${id}.${at + index}`);
        if (index === 0 && isLong) rows.push({ node: call, depth: depth + 1, id: runId, isOpen: shown > 1, more: run - 1 });
      }
      at += run;
    }
  };
  add(root, 0, '0');
  return rows;
}
