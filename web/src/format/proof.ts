// Checks in the browser that a receipt belongs to a block: the hash of the header is that of the block, and the nodes of the receipt
// trie lead from the root in the header along the key to the receipt (https://ethereum.org/developers/docs/data-structures-and-encoding/patricia-merkle-trie/).
import { fromRlp, keccak256 } from 'viem/utils';

type Hex = `0x${string}`;
type Item = Hex | readonly Item[];

/** The result of `trawl_getReceiptProof`, as far as it is checked. */
export interface ReceiptProof { blockNumber: string; blockHash: Hex; header: Hex; key: Hex; receipt: Hex; proof: Hex[] }

/** The index of the receipts root in a header. */
const RECEIPTS_ROOT = 5;

const itemsOf = (data: Hex): readonly Item[] => {
  const decoded = fromRlp(data, 'hex') as Item;
  return typeof decoded === 'string' ? [] : decoded;
};

/** The digits of a path, and whether it ends at a value: hex prefix encoding. */
function digitsOf(path: Hex): { digits: string; isLeaf: boolean } {
  const flag = Number.parseInt(path[2] ?? '0', 16);
  return { digits: path.slice(flag % 2 === 1 ? 3 : 4), isLeaf: flag >= 2 };
}

/** Why the proof is invalid; `null` if it is valid. */
export function flawOf({ blockHash, header, key, receipt, proof }: ReceiptProof): string | null {
  if (keccak256(header) !== blockHash.toLowerCase()) return 'the hash of the header is not that of the block';
  let expected: Item | undefined = itemsOf(header)[RECEIPTS_ROOT];
  let rest = key.slice(2);
  for (const node of proof) {
    if (typeof expected !== 'string' || keccak256(node) !== expected) return 'a node of the trie does not have the expected hash';
    let items: readonly Item[] | null = itemsOf(node);
    // A node of fewer than 32 bytes is embedded in its parent.
    while (items) {
      const next = step(items, rest);
      if (next === null) return 'the nodes lead elsewhere than to the receipt';
      if (next.value !== undefined) return next.value === receipt ? null : 'another receipt is at its position';
      rest = next.rest;
      expected = next.item;
      items = typeof expected === 'string' ? null : (expected ?? null);
    }
  }
  return 'the nodes end before the receipt';
}

interface Step { rest: string; item?: Item; value?: Item }

/** Follows the digits through one node; `null` if they lead nowhere. */
function step(items: readonly Item[], rest: string): Step | null {
  if (items.length === 17) return rest === '' ? { rest, value: items[16] as Item } : { rest: rest.slice(1), item: items[Number.parseInt(rest[0] as string, 16)] as Item };
  const [path, item] = items;
  if (items.length !== 2 || typeof path !== 'string' || item === undefined) return null;
  const { digits, isLeaf } = digitsOf(path);
  if (!rest.startsWith(digits) || (isLeaf && digits !== rest)) return null;
  return isLeaf ? { rest: '', value: item } : { rest: rest.slice(digits.length), item };
}
