// Which chain is served, and what its coin is called.
import { call } from '../api/request.ts';
import { kept } from './kept.ts';

export interface Chain { id: number | null; name: string; symbol: string; known: boolean }

/** As it was at the last visit until the answer is there, so that nothing moves when it comes. */
const last = kept<Chain>('chain', { id: null, name: '', symbol: 'coins', known: false }, (text) => JSON.parse(text) as Chain, JSON.stringify);
export const chain = last.value;

const WELL_KNOWN: Record<number, [string, string]> = {
  1: ['Ethereum', 'ETH'], 10: ['OP Mainnet', 'ETH'], 56: ['BNB Smart Chain', 'BNB'], 100: ['Gnosis', 'xDAI'],
  137: ['Polygon', 'POL'], 8453: ['Base', 'ETH'], 17000: ['Holesky', 'ETH'], 42161: ['Arbitrum One', 'ETH'],
  43114: ['Avalanche C', 'AVAX'], 560048: ['Hoodi', 'ETH'], 11155111: ['Sepolia', 'ETH'],
};

/** Asks once which chain it is; without an answer amounts stay in coins. */
export async function learnChain(): Promise<void> {
  try {
    const id = Number(await call<string>('eth_chainId', []));
    const [name, symbol] = WELL_KNOWN[id] ?? [`Chain ${id}`, 'coins'];
    last.set({ id, name, symbol, known: id in WELL_KNOWN });
  } catch {
    setTimeout(() => void learnChain(), 5000);
  }
}
