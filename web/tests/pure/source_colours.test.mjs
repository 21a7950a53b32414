import assert from 'node:assert/strict';
import test from 'node:test';
import { changesDirection, codeText, rowOfLine, rowText, splitAtMarks, tokensOfRow, withCodes } from '../../src/source/code_text.ts';
import { grammarOf } from '../../src/source/grammar.ts';

/** Each row as `kind:text` of its tokens. */
function colours(path, text) {
  const code = codeText(text, grammarOf(path, null));
  return code.starts.map((_, row) => tokensOfRow(code, row).map(({ kind, start, end }) => `${kind}:${rowText(code, row).slice(start, end)}`));
}

test('Solidity has comments, strings, numbers, keywords and types', () => {
  assert.deepEqual(colours('A.sol', '// SPDX: MIT\ncontract A is B { uint256 constant x = 1_000e18; }\naddress $a = 0xAb01; string s = hex"00ff" /* a "b" */ "it\\"s"; // \'\nx1 = .5 + y.length + 1e1_0;'), [
    ['comment:// SPDX: MIT'],
    ['keyword:contract', 'keyword:is', 'type:uint256', 'keyword:constant', 'number:1_000e18'],
    ['type:address', 'number:0xAb01', 'type:string', 'keyword:hex', 'string:"00ff"', 'comment:/* a "b" */', 'string:"it\\"s"', "comment:// '"],
    ['number:.5', 'number:1e1_0'],
  ]);
});

test('a comment or string goes on in the next rows, and only there', () => {
  assert.deepEqual(colours('A.sol', 'a /* "x\n// y */ if "z\nif\n"a\\\nif" if\n/* if'), [['comment:/* "x'], ['comment:// y */', 'keyword:if', 'string:"z'], ['keyword:if'], ['string:"a\\'], ['string:if"', 'keyword:if'], ['comment:/* if']]);
  assert.deepEqual(colours('a.vy', '"""if\n\\""" if\n""" if # """\nif'), [['string:"""if'], ['string:\\""" if'], ['string:"""', 'keyword:if', 'comment:# """'], ['keyword:if']]);
});

test('what ends a line for solc ends its comment, so that no code looks like a comment', () => {
  for (const end of ['\v', '\f', '\x85', '\u2028', '\u2029']) assert.ok(colours('A.sol', `// a${end}return 1;`)[0].includes('keyword:return'), JSON.stringify(end));
});

test('Vyper, Yul and JSON', () => {
  assert.deepEqual(colours('a.vy', '@external\ndef f(a: DynArray[uint256, 3]) -> Bytes[4]: # \'\n    return b"\\x00"'), [
    ['keyword:@external'], ['keyword:def', 'type:DynArray', 'type:uint256', 'number:3', 'type:Bytes', 'number:4', "comment:# '"], ['keyword:return', 'string:"\\x00"'],
  ]);
  assert.deepEqual(colours('a.yul', 'object "A" { code { let x := 0x1F } }'), [['keyword:object', 'string:"A"', 'keyword:code', 'keyword:let', 'number:0x1F']]);
  assert.deepEqual(colours('a.json', '{"a//b" : "c", "d": [-1.5e3, true]}'), [['type:"a//b"', 'string:"c"', 'type:"d"', 'number:1.5e3', 'keyword:true']]);
  assert.equal(grammarOf('a.rs', 'stylus_rust'), null);
  assert.equal(grammarOf('a.constructor', '__proto__'), null);
  assert.deepEqual(colours('a.rs', 'fn "x"'), [[]]);
});

test('letters that look like ASCII are marked in code, not in comments and strings', () => {
  assert.deepEqual(colours('A.sol', 'b\u0430l = "\u0430"; // \u0430'), [['odd:\u0430', 'string:"\u0430"', 'comment:// \u0430']]);
});

test('lines are those of an editor, and long ones are cut without losing their colours', () => {
  const lines = (text) => codeText(text, null).lines;
  assert.deepEqual(lines('a\r\nb\rc\n'), [1, 2, 3]);
  assert.deepEqual(lines('a\n\n'), [1, 2]);
  assert.deepEqual(lines(''), [1]);
  const code = codeText(`x\n"${'\u{1f600}'.repeat(500)}" if\ny`, grammarOf('A.sol', null));
  assert.deepEqual(code.lines, [1, 2, 2, 2, 3]);
  assert.equal(code.lineCount, 3);
  const rows = code.starts.map((_, row) => rowText(code, row));
  assert.equal(rows.slice(1, 4).join(''), `"${'\u{1f600}'.repeat(500)}" if`);
  for (const row of rows) assert.ok(row.length <= 401 && row.isWellFormed());
  assert.deepEqual(tokensOfRow(code, 2), [{ kind: 'string', start: 0, end: rows[2].length }]);
  assert.deepEqual(tokensOfRow(code, 3).map(({ kind }) => kind), ['string', 'keyword']);
  assert.deepEqual([1, 2, 3, 4, 1e8].map((line) => rowOfLine(code, line)), [0, 1, 4, 4, 4]);
});

test('what hides or turns text is shown as a code', () => {
  assert.equal(withCodes('\ta\n"\u202e\u2066\0\u200b" é 😀'), '\ta\n"\\u202e\\u2066\\u0000\\u200b" é 😀');
  assert.deepEqual(splitAtMarks('a\u202eb'), ['a', '\u202e', 'b']);
  // Very many are not one element each.
  const many = splitAtMarks('a\u202e'.repeat(200));
  assert.ok(many.length <= 40 && many.length % 2 === 0 && many.join('') === 'a\u202e'.repeat(200), many.length);
  assert.deepEqual(['\u202e', '\u2067', '\u200f', 'é\t\u200b'].map(changesDirection), [true, true, true, false]);
});

test('no text takes long', () => {
  for (const part of ['/*', '"', '"\\', "'''", '//', '\\', '0x', '1.', '_', '\n', '/*\n*/', '\u202e', '{"a":']) {
    const text = part.repeat(Math.ceil(1e6 / part.length));
    for (const path of ['A.sol', 'a.vy', 'a.json']) {
      const start = performance.now();
      const code = codeText(text, grammarOf(path, null));
      for (let row = 0; row < code.starts.length; row += Math.ceil(code.starts.length / 100)) tokensOfRow(code, row);
      const taken = performance.now() - start;
      // Seconds would be those of a text read again and again; a busy machine takes one.
      assert.ok(taken < 4000, `${JSON.stringify(part)} in ${path}: ${taken} ms`);
      if (process.env['PRINT_TIMES']) console.log(JSON.stringify(part), path, taken.toFixed(0));
    }
  }
});
