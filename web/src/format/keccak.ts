// Keccak-256, for hashes of event signatures and checksums of addresses. viem uses the same library, so that both share one copy.
import { keccak_256 } from '@noble/hashes/sha3';
import { bytesToHex } from '@noble/hashes/utils';

/** The hash of a text (UTF-8), as `0x` and 64 digits. */
export const keccak256 = (text: string) => `0x${bytesToHex(keccak_256(text))}`;

const cache = new Map<string, string>();

/** The spelling of an address with its checksum (EIP-55). */
export function checksum(address: string): string {
  const digits = address.slice(2).toLowerCase();
  const cached = cache.get(digits);
  if (cached) return cached;
  const hash = keccak256(digits).slice(2);
  const checksummed = `0x${Array.from(digits, (digit, index) => (parseInt(hash[index] as string, 16) > 7 ? digit.toUpperCase() : digit)).join('')}`;
  if (cache.size > 5000) cache.clear();
  cache.set(digits, checksummed);
  return checksummed;
}
