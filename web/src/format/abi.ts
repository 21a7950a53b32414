// Entries of an ABI as JSON.
export interface AbiInput { name?: string; type: string; components?: AbiInput[] }
export interface AbiEntry { type: string; name?: string; inputs?: AbiInput[]; outputs?: AbiInput[]; stateMutability?: string }
