// Functions of well-known standards that a contract without an ABI has, by the selectors in its code.
import type { AbiEntry } from '../../format/abi.ts';

/** Selector, declaration, and return types: ERC-20, 721, 1155, 4626, 165, 173, 2612, 1967, Safe, Uniswap V2, Chainlink. */
const FUNCTIONS = `
06fdde03 name() string
95d89b41 symbol() string
313ce567 decimals() uint8
18160ddd totalSupply() uint256
70a08231 balanceOf(address owner) uint256
dd62ed3e allowance(address owner,address spender) uint256
6352211e ownerOf(uint256 tokenId) address
c87b56dd tokenURI(uint256 tokenId) string
081812fc getApproved(uint256 tokenId) address
e985e9c5 isApprovedForAll(address owner,address operator) bool
00fdd58e balanceOf(address owner,uint256 id) uint256
0e89341c uri(uint256 id) string
01ffc9a7 supportsInterface(bytes4 interfaceId) bool
8da5cb5b owner() address
5c975abb paused() bool
5c60da1b implementation() address
f851a440 admin() address
7ecebe00 nonces(address owner) uint256
3644e515 DOMAIN_SEPARATOR() bytes32
54fd4d50 version() string
38d52e0f asset() address
01e1d114 totalAssets() uint256
07a2d13a convertToAssets(uint256 shares) uint256
c6e6f592 convertToShares(uint256 assets) uint256
a0e67e2b getOwners() address[]
e75235b8 getThreshold() uint256
0dfe1681 token0() address
d21220a7 token1() address
0902f1ac getReserves() uint112,uint112,uint32
ddca3f43 fee() uint24
50d25bcd latestAnswer() int256
feaf968c latestRoundData() uint80,int256,uint256,uint256,uint80
`;

const inputOf = (text: string) => {
  const [type = '', name = ''] = text.split(' ');
  return { type, name };
};

/** ABI entries, each with the push instruction of its selector: solc omits leading zero bytes. */
const entries = FUNCTIONS.trim().split('\n').map((line) => {
  const [, selector = '', name = '', inputs = '', outputs = ''] = /^(\w{8}) (\w+)\((.*?)\) (.+)$/.exec(line) ?? [];
  const digits = selector.replace(/^(00)+/, '');
  const entry: AbiEntry = {
    type: 'function', stateMutability: 'view', name, inputs: inputs ? inputs.split(',').map(inputOf) : [], outputs: outputs.split(',').map(inputOf),
  };
  return { entry, push: `${(0x5f + digits.length / 2).toString(16)}${digits}` };
});

/** The read functions of standards that a code has. */
export const standardFunctions = (code: string): AbiEntry[] => entries.filter(({ push }) => code.toLowerCase().includes(push)).map(({ entry }) => entry);

/** The compiler by the metadata at the end of a code (https://docs.soliditylang.org/en/latest/metadata.html). */
export function compilerOf(code: string): string | null {
  const found = /64736f6c6343([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})[0-9a-f]*$/i.exec(code.slice(-400));
  return found ? `Solidity ${found.slice(1, 4).map((digits) => Number.parseInt(digits, 16)).join('.')}` : null;
}
