// Blocks that one reorganisation removed from the chain.

/** How many blocks were removed together with a block, as far as a page of the list has them. */
export function depthOf<B extends Link>(block: B, page: B[], hasMore: boolean): { depth: number; isAtLeast: boolean } {
  const branch = branchOf(block, page);
  // The list goes on below its last block.
  return { depth: branch.length, isAtLeast: hasMore && branch.includes(page.at(-1) as B) };
}

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
