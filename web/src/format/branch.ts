// Blocks that a reorganisation took out of the chain together.

interface Link { hash: string; parent_hash: string | null; height: number }

/** Those of `others` that hang together with `block`, itself included, the lowest first: a branch without the block that it began after. */
export function branchOf<B extends Link>(block: B, others: B[]): B[] {
  const branch = [block];
  for (let below = block; ;) {
    const parent = others.find((other) => other.hash === below.parent_hash);
    if (!parent || branch.length > others.length) break;
    branch.unshift(parent);
    below = parent;
  }
  for (let above = block; ;) {
    const child = others.find((other) => other.parent_hash === above.hash);
    if (!child || branch.length > others.length) break;
    branch.push(child);
    above = child;
  }
  return branch;
}
