// Calls of contracts as bytes, by viem, in a file that is loaded with the first call.
import { decodeFunctionResult, encodeFunctionData } from 'viem/utils';
import type { Abi } from 'viem';
import type { AbiEntry } from './ReadCalls.tsx';

const abiOf = (entry: AbiEntry) => [entry] as unknown as Abi;

export const encode = (entry: AbiEntry, parameters: unknown[]) => encodeFunctionData({ abi: abiOf(entry), functionName: entry.name ?? '', args: parameters });

export const decode = (entry: AbiEntry, data: `0x${string}`): unknown => decodeFunctionResult({ abi: abiOf(entry), functionName: entry.name ?? '', data });
