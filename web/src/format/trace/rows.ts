// The rows of a tree of calls: what is unfolded, and runs of equal calls as one row.
import type { Node } from './tree.ts';

export interface Row {
  node: Node;
  depth: number;
  /** Where it stands in the tree, which does not change with what is unfolded. */
  id: string;
  isOpen: boolean;
  /** It stands for so many calls like the one above it. */
  more?: number;
}

/** Equal calls in a row of which the first alone is shown. */
const FEWEST = 4;

/** How many calls from one on are of its shape. */
function runLength(calls: Node[], from: number): number {
  let to = from + 1;
  while (to < calls.length && calls[to]?.shape === calls[from]?.shape) to += 1;
  return to - from;
}

/** Rows from the top down. `isOpen` says of a call whether those below it are shown, and of a run, by the id of its row, all of it. */
export function rowsOf(root: Node, isOpen: (id: string, node: Node, depth: number, isRun: boolean) => boolean): Row[] {
  const rows: Row[] = [];
  const add = (node: Node, depth: number, id: string): void => {
    const open = node.calls.length > 0 && isOpen(id, node, depth, false);
    rows.push({ node, depth, id, isOpen: open });
    if (!open) return;
    for (let at = 0; at < node.calls.length;) {
      const run = runLength(node.calls, at);
      const runId = `${id}.${at}+`;
      const isLong = run >= FEWEST;
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
