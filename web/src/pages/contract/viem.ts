// Encoding and decoding of calls by viem, which is loaded with the first call.
import { decodeFunctionData, decodeFunctionResult, encodeFunctionData, parseAbiItem } from 'viem/utils';
import type { Abi } from 'viem';
import type { AbiEntry } from '../../format/abi.ts';

const abiOf = (entry: AbiEntry) => [entry] as unknown as Abi;

export const encode = (entry: AbiEntry, parameters: unknown[]) => encodeFunctionData({ abi: abiOf(entry), functionName: entry.name ?? '', args: parameters });

export const decode = (entry: AbiEntry, data: `0x${string}`): unknown => decodeFunctionResult({ abi: abiOf(entry), functionName: entry.name ?? '', data });

/** The ABI entry of a declaration such as `transfer(address to, uint256 amount)`. */
export const entryOf = (signature: string) => parseAbiItem([`function ${signature.trim().replace(/^function\s+/, '').replace(/;$/, '')}`] as never) as unknown as AbiEntry;

/** The values of a call's parameters. */
export const decodeCall = (entry: AbiEntry, data: `0x${string}`): readonly unknown[] => decodeFunctionData({ abi: abiOf(entry), data }).args ?? [];
