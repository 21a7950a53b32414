// Well-known addresses: the zero address and precompiled contracts.

/** By number: https://www.evm.codes/precompiled, EIP-2537, EIP-7951. */
const NAMES: Record<number, string> = {
  0x01: 'ECRecover', 0x02: 'SHA-256', 0x03: 'RIPEMD-160', 0x04: 'Identity', 0x05: 'ModExp', 0x06: 'ECAdd', 0x07: 'ECMul', 0x08: 'ECPairing',
  0x09: 'BLAKE2f', 0x0a: 'KZG point evaluation', 0x0b: 'BLS12 G1Add', 0x0c: 'BLS12 G1MSM', 0x0d: 'BLS12 G2Add', 0x0e: 'BLS12 G2MSM',
  0x0f: 'BLS12 pairing check', 0x10: 'BLS12 map Fp to G1', 0x11: 'BLS12 map Fp2 to G2', 0x100: 'P256Verify',
};

/** The name of a precompiled contract; `null` for other addresses. Its input has no selector. */
export function precompileOf(hash: string): string | null {
  return /^0x0{36}[0-9a-f]{4}$/i.test(hash) ? (NAMES[Number(hash)] ?? null) : null;
}

/** The name of a well-known address, whatever is loaded. */
export function commonName(hash: string): string | null {
  return /^0x0{40}$/.test(hash) ? 'Zero address' : precompileOf(hash);
}
