// The approvals of a wallet, from its Approval and ApprovalForAll events: the last of each counts.

/** Topics of Approval (ERC-20, ERC-721) and ApprovalForAll (ERC-721, ERC-1155). */
export const APPROVAL = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925';
export const APPROVAL_FOR_ALL = '0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31';

/** A log of a scan. */
export interface ApprovalLog { address: string; topics: string[]; data: string; blockNumber: string; logIndex: string; transactionHash: string }

export interface Approval {
  token: string;
  spender: string;
  kind: 'amount' | 'id' | 'all';
  /** The amount that was approved, the id, or 1 and 0 for all ids and none. */
  value: bigint;
  block: number;
  transaction: string;
}

const addressOf = (word: string | undefined) => `0x${(word ?? '').slice(-40)}`;
const numberOf = (data: string | undefined) => (data && data.length > 2 ? BigInt(data.slice(0, 66)) : 0n);

/** The approval of a log, with a key that it shares with the approvals it replaces; `null` for other logs. */
function approvalOf({ address: token, topics, data, blockNumber, transactionHash: transaction }: ApprovalLog): { key: string; approval: Approval } | null {
  const common = { token, spender: addressOf(topics[2]), block: Number(blockNumber), transaction };
  const { spender } = common;
  if (topics[0] === APPROVAL_FOR_ALL && topics.length === 3) return { key: `${token} all ${spender}`, approval: { ...common, kind: 'all', value: numberOf(data) } };
  if (topics[0] !== APPROVAL) return null;
  // An id has one spender: the next approval of the id replaces it.
  if (topics.length === 4) return { key: `${token} id ${topics[3]}`, approval: { ...common, kind: 'id', value: numberOf(topics[3]) } };
  return topics.length === 3 ? { key: `${token} amount ${spender}`, approval: { ...common, kind: 'amount', value: numberOf(data) } } : null;
}

/** Adds the approvals of logs, which are in the order of the chain. */
export function addApprovals(approvals: Map<string, Approval>, logs: ApprovalLog[]): void {
  for (const log of logs) {
    const found = approvalOf(log);
    if (found) approvals.set(found.key, found.approval);
  }
}

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;

/** Whether an approval revokes. */
export const isRevoked = ({ kind, value, spender }: Approval) => (kind === 'id' ? spender === ZERO_ADDRESS : value === 0n);

const word = (value: string | bigint) => (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0');

/** The data of the call for the current state of an approval: allowance, getApproved or isApprovedForAll. */
export function questionOf({ kind, spender, value }: Approval, owner: string): string {
  if (kind === 'id') return `0x081812fc${word(value)}`;
  return `0x${kind === 'amount' ? 'dd62ed3e' : 'e985e9c5'}${word(owner.toLowerCase())}${word(spender)}`;
}

/** The current state by the result of that call: the remaining amount, or 1 if the approval stands; `null` if the result is invalid. */
export function leftOf({ kind, spender }: Approval, result: string): bigint | null {
  if (result.length !== 66) return null;
  if (kind === 'id') return addressOf(result) === spender ? 1n : 0n;
  return BigInt(result);
}
