// Keccak-256, for hashes of event signatures and checksums of addresses. FIPS 202's permutation with the older padding.

const MASK = (1n << 64n) - 1n;
const RATE = 136;

const turn = (word: bigint, by: bigint) => (by === 0n ? word : ((word << by) | (word >> (64n - by))) & MASK);

/** The constants of the 24 rounds, from their shift register. */
const ROUND_CONSTANTS = (() => {
  const constants: bigint[] = [];
  let register = 1;
  for (let round = 0; round < 24; round += 1) {
    let constant = 0n;
    for (let bit = 0; bit < 7; bit += 1) {
      if (register & 1) constant |= 1n << BigInt((1 << bit) - 1);
      register = register & 0x80 ? (register << 1) ^ 0x171 : register << 1;
    }
    constants.push(constant);
  }
  return constants;
})();

function permute(lanes: bigint[]): void {
  const at = (index: number) => lanes[index] as bigint;
  for (const constant of ROUND_CONSTANTS) {
    const parity = [0, 1, 2, 3, 4].map((x) => at(x) ^ at(x + 5) ^ at(x + 10) ^ at(x + 15) ^ at(x + 20));
    for (let x = 0; x < 5; x += 1) {
      const change = (parity[(x + 4) % 5] as bigint) ^ turn(parity[(x + 1) % 5] as bigint, 1n);
      for (let y = 0; y < 25; y += 5) lanes[x + y] = at(x + y) ^ change;
    }
    let [x, y, carried] = [1, 0, at(1)];
    for (let step = 0; step < 24; step += 1) {
      [x, y] = [y, (2 * x + 3 * y) % 5];
      const next = at(x + 5 * y);
      lanes[x + 5 * y] = turn(carried, BigInt((((step + 1) * (step + 2)) / 2) % 64));
      carried = next;
    }
    for (let row = 0; row < 25; row += 5) {
      const old = lanes.slice(row, row + 5) as [bigint, bigint, bigint, bigint, bigint];
      for (let column = 0; column < 5; column += 1) {
        lanes[row + column] = (old[column] as bigint) ^ (~(old[(column + 1) % 5] as bigint) & MASK & (old[(column + 2) % 5] as bigint));
      }
    }
    lanes[0] = at(0) ^ constant;
  }
}

/** The hash of a text (UTF-8), as `0x` and 64 digits. */
export function keccak256(text: string): string {
  const input = new TextEncoder().encode(text);
  const padded = new Uint8Array(Math.ceil((input.length + 1) / RATE) * RATE);
  padded.set(input);
  padded[input.length] = 1;
  padded[padded.length - 1] = (padded[padded.length - 1] as number) | 0x80;
  const lanes: bigint[] = Array.from({ length: 25 }, () => 0n);
  const view = new DataView(padded.buffer);
  for (let block = 0; block < padded.length; block += RATE) {
    for (let lane = 0; lane < RATE / 8; lane += 1) {
      lanes[lane] = (lanes[lane] as bigint) ^ view.getBigUint64(block + lane * 8, true);
    }
    permute(lanes);
  }
  const out = new DataView(new ArrayBuffer(32));
  for (let lane = 0; lane < 4; lane += 1) out.setBigUint64(lane * 8, lanes[lane] as bigint, true);
  return `0x${Array.from(new Uint8Array(out.buffer), (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

const known = new Map<string, string>();

/** The spelling of an address with its checksum (EIP-55). */
export function checksum(address: string): string {
  const digits = address.slice(2).toLowerCase();
  const before = known.get(digits);
  if (before) return before;
  const hash = keccak256(digits).slice(2);
  const spelled = `0x${Array.from(digits, (digit, index) => (parseInt(hash[index] as string, 16) > 7 ? digit.toUpperCase() : digit)).join('')}`;
  if (known.size > 5000) known.clear();
  known.set(digits, spelled);
  return spelled;
}
