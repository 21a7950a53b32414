import assert from 'node:assert/strict';
import test from 'node:test';
import { fileName, filesOf, hasSource, standardInput } from '../../src/source/bundle.ts';
import { linesOf, linesTo, selectionOf, selectionQuery } from '../../src/source/selection.ts';
import { actionOf, rowsOf, treeOf } from '../../src/source/tree.ts';
import { licenseName, match, optimization, otherCompiler } from '../../src/source/words.ts';

/** The rows of a tree as an indented text; `closed` are names of folders. */
function drawn(paths, closed = []) {
  return rowsOf(treeOf(paths), (node) => !closed.includes(node.name)).map(({ node, depth }) => `${'  '.repeat(depth)}${node.name}${node.path === null ? '/' : ''}`);
}

test('folders with nothing but a folder are joined, and the main file comes first', () => {
  assert.deepEqual(drawn(['src/token/Token.sol', '@oz/contracts/access/Ownable.sol', '@oz/contracts/utils/Context.sol', 'src/token/A.sol', 'src/lib/B.sol', 'src/Z.sol']), [
    'src/', '  token/', '    Token.sol', '    A.sol', '  lib/', '    B.sol', '  Z.sol', '@oz/contracts/', '  access/', '    Ownable.sol', '  utils/', '    Context.sol',
  ]);
  assert.deepEqual(drawn(['a/b/c/D.sol', 'a/b/c/E.sol']), ['a/b/c/', '  D.sol', '  E.sol']);
  assert.deepEqual(drawn(['a/D.sol', 'b/E.sol'], ['a']), ['a/', 'b/', '  E.sol']);
  assert.deepEqual(drawn(['A.sol']), ['A.sol']);
});

test('any path has a place in the tree', () => {
  const paths = ['/home/x/A.sol', 'a', 'a/b', 'a/', '', '..//../B.sol', '__proto__/constructor', 'https://github.com/x/C.sol', `${'d/'.repeat(5000)}E.sol`];
  const rows = rowsOf(treeOf(paths), () => true);
  assert.deepEqual(rows.flatMap(({ node }) => node.path ?? []).sort(), [...paths].sort());
  assert.equal(new Set(rows.map(({ node }) => node.id)).size, rows.length);
  assert.ok(Math.max(...rows.map(({ depth }) => depth)) < 50);
});

test('arrow keys move through a tree', () => {
  const rows = rowsOf(treeOf(['a/B.sol', 'a/C.sol', 'd/E.sol', 'F.sol']), (node) => node.name === 'a');
  // a/, B.sol, C.sol, d/ (closed), F.sol
  const does = (at, keys) => keys.map((key) => actionOf(rows, at, key));
  assert.deepEqual(does(0, ['ArrowDown', 'ArrowUp', 'Home', 'End', 'ArrowRight', 'ArrowLeft', 'Enter', 'x']), [1, 0, 0, 4, 1, 'act', 'act', null]);
  assert.deepEqual(does(2, ['ArrowLeft', 'ArrowRight', 'ArrowUp', ' ']), [0, null, 1, 'act']);
  assert.deepEqual(does(3, ['ArrowLeft', 'ArrowRight']), [null, 'act']);
  assert.deepEqual(does(4, ['ArrowDown', 'ArrowLeft']), [4, null]);
  assert.equal(actionOf([], 0, 'End'), null);
});

test('a link names a file and its lines', () => {
  for (const selection of [{ path: 'a b/ü&#.sol', lines: { first: 2, last: 9 } }, { path: 'A.sol', lines: null }, { path: null, lines: { first: 7, last: 7 } }]) {
    const words = new URLSearchParams(Object.entries(selectionQuery(selection)).filter(([, value]) => value !== undefined));
    assert.deepEqual(selectionOf(Object.fromEntries(new URLSearchParams(words.toString()))), selection);
  }
  assert.deepEqual(selectionQuery({ path: 'A.sol', lines: { first: 2, last: 9 } }), { file: 'A.sol', line: '2-9' });
  assert.deepEqual(['12', 'L3-L5', ' 5-3 '].map(linesOf), [{ first: 12, last: 12 }, { first: 3, last: 5 }, { first: 3, last: 5 }]);
  for (const text of ['', '0', '-1', '1.5', '1-', 'x', '99999999999', '1e3', '0-4']) assert.equal(linesOf(text), null, text);
  assert.deepEqual([linesTo(null, 4), linesTo({ first: 4, last: 4 }, 2), linesTo({ first: 4, last: 6 }, 9)], [{ first: 4, last: 4 }, { first: 2, last: 4 }, { first: 4, last: 9 }]);
});

const SOURCE = {
  name: 'Token', language: 'solidity', file_path: 'src/Token.sol', source_code: 'contract Token {}', additional_sources: [{ file_path: 'src/A.sol', source_code: 'contract A {}' }, { file_path: 'src/Token.sol', source_code: 'other' }],
  compiler_version: 'v0.8.19+commit.7dd6d404', compiler_settings: null, evm_version: 'paris', optimization_enabled: true, optimization_runs: 200, license_type: 'mit',
  constructor_args: null, decoded_constructor_args: null, external_libraries: [], verified_at: null, is_fully_verified: null, is_partially_verified: null, is_verified_via_sourcify: null,
};
const inputOf = (changes) => JSON.parse(standardInput({ ...SOURCE, ...changes }));

test('each path is one file, the main one first', () => {
  assert.deepEqual(filesOf(SOURCE), [{ path: 'src/Token.sol', text: 'contract Token {}' }, { path: 'src/A.sol', text: 'contract A {}' }]);
  assert.equal(filesOf({ ...SOURCE, file_path: null, language: 'vyper', additional_sources: null })[0].path, 'Token.vy');
  const unnamed = { ...SOURCE, file_path: null, source_code: null };
  assert.deepEqual(filesOf(unnamed).map(({ path }) => path), ['src/A.sol', 'src/Token.sol']);
  assert.deepEqual([SOURCE, unnamed, { ...unnamed, additional_sources: [] }, { ...unnamed, additional_sources: null }, {}].map(hasSource), [true, true, false, false, false]);
  assert.deepEqual(['a/../B c.sol', '..', '.ssh', 'a\\b.sol', '', 'x/\u202esol.exe'].map(fileName), ['B_c.sol', 'source', 'ssh', 'b.sol', 'source', '_sol.exe']);
});

test('all files are an input that solc takes', () => {
  const stated = inputOf({});
  assert.deepEqual(stated.sources, { 'src/Token.sol': { content: 'contract Token {}' }, 'src/A.sol': { content: 'contract A {}' } });
  assert.equal(stated.language, 'Solidity');
  assert.deepEqual({ ...stated.settings, outputSelection: 0 }, { optimizer: { enabled: true, runs: 200 }, evmVersion: 'paris', outputSelection: 0 });
  assert.ok(stated.settings.outputSelection['*']['*'].includes('evm.bytecode'));
  // Settings of metadata: solc refuses their target, and takes libraries by file.
  const settings = { compilationTarget: { 'src/Token.sol': 'Token' }, viaIR: true, libraries: { 'src/A.sol:A': '0x01', 'src/A.sol:B': '0x02' }, remappings: [] };
  const loaded = inputOf({ compiler_settings: settings });
  assert.deepEqual({ ...loaded.settings, outputSelection: 0 }, { viaIR: true, remappings: [], libraries: { 'src/A.sol': { A: '0x01', B: '0x02' } }, outputSelection: 0 });
  const asInput = { libraries: { 'src/A.sol': { A: '0x01' } }, outputSelection: { '*': { '*': ['abi'] } } };
  assert.deepEqual(inputOf({ compiler_settings: asInput }).settings, asInput);
  assert.deepEqual({ ...inputOf({ optimization_enabled: null, evm_version: 'Default' }).settings, outputSelection: 0 }, { outputSelection: 0 });
  assert.ok(Object.hasOwn(inputOf({ additional_sources: [{ file_path: '__proto__', source_code: 'x' }] }).sources, '__proto__'));
});

test('what is not stated is not said', () => {
  assert.deepEqual([[true, 200], [true, 1], [true, null], [false, 200], [null, 200]].map(([enabled, runs]) => optimization({ optimization_enabled: enabled, optimization_runs: runs })), ['Yes, 200 runs', 'Yes, 1 run', 'Yes', 'No', null]);
  assert.deepEqual([[true, false], [false, true], [false, null], [null, true], [null, null]].map(([full, part]) => match({ is_fully_verified: full, is_partially_verified: part })?.split(':')[0] ?? null), ['Exact match', 'Partial match', 'Partial match', 'Partial match', null]);
  assert.deepEqual(['mit', 'gnu_gpl_v3', 'own words', 'constructor'].map(licenseName), ['MIT', 'GNU GPL v3', 'own words', 'constructor']);
  assert.equal(otherCompiler('v0.8.19+commit.7dd6d404', 'Solidity 0.8.19'), null);
  assert.equal(otherCompiler('v0.8.19+commit.7dd6d404', 'Solidity 0.8.17'), 'Solidity 0.8.17');
  assert.equal(otherCompiler('v0.8.19+commit.7dd6d404', null), null);
  assert.equal(otherCompiler(null, 'Solidity 0.8.17'), null);
});
