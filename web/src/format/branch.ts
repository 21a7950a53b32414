// Blocks that one reorganisation removed from the chain.

interface Link { hash: string; parent_hash: string | null; height: number }

/** The branch of `block` among `others`, the lowest block first, without the common ancestor. */
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
