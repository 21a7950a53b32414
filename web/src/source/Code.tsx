// A text with numbers of its lines and colours. All of it is on the page, so that the browser finds words in it, but only the rows
// near the viewport have numbers and colours.
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type CodeText, rowOfLine, rowText, splitAtMarks, tokensOfRow, withCodes } from './code_text.ts';
import { type LineRange, linesTo } from './selection.ts';

interface Props { code: CodeText; name: string; lines: LineRange | null; urlOf: (lines: LineRange) => string; open: (lines: LineRange) => void }

/** The height of a row in pixels, which is that of `source.css`. */
const ROW = 20;
/** Rows of a chunk; in a text with very many rows they are more, so that the chunks are not too many. */
const MIN_CHUNK = 25;
const MAX_CHUNKS = 1000;
/** How far from the viewport rows are near. */
const MARGIN = '160px 0px';

export function Code({ code, name, lines, urlOf, open }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const rows = code.starts.length;
  const size = Math.max(MIN_CHUNK, Math.ceil(rows / MAX_CHUNKS));
  const near = useNear(box, code);
  useLinkedLine(box, code, lines);
  const digits = String(code.lineCount).length;
  return (
    <div ref={box} class="code" role="region" aria-label={name} tabIndex={0}>
      <div class="rows" style={{ '--digits': String(digits), width: `max(100%, ${code.longest + digits + 5}ch)` }}>
        {Array.from({ length: Math.ceil(rows / size) }, (_, index) => (
          <Chunk key={index} index={index} code={code} first={index * size} end={Math.min((index + 1) * size, rows)} isNear={near.has(index)} lines={lines} urlOf={urlOf} open={open} />
        ))}
      </div>
    </div>
  );
}

/** The chunks that are near the viewport of the box. */
function useNear(box: RefObject<HTMLDivElement | null>, code: CodeText): ReadonlySet<number> {
  const [near, setNear] = useState<ReadonlySet<number>>(new Set([0]));
  useEffect(() => {
    const watch = new IntersectionObserver((seen) => setNear((before) => {
      const after = new Set(before);
      for (const { target, isIntersecting } of seen) after[isIntersecting ? 'add' : 'delete'](Number((target as HTMLElement).dataset['chunk']));
      return after;
    }), { root: box.current, rootMargin: MARGIN });
    for (const chunk of box.current?.querySelectorAll('[data-chunk]') ?? []) watch.observe(chunk);
    return () => watch.disconnect();
  }, [code]);
  return near;
}

/** Scrolls to the lines that the URL names, unless they are in view. */
function useLinkedLine(box: RefObject<HTMLDivElement | null>, code: CodeText, lines: LineRange | null): void {
  const isFirst = useRef(true);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || !lines) return;
    const top = rowOfLine(code, lines.first) * ROW;
    const isInView = top >= element.scrollTop && top + ROW <= element.scrollTop + element.clientHeight;
    if (!isInView) element.scrollTop = top - 3 * ROW;
    if (isFirst.current) element.scrollIntoView({ block: 'nearest' });
    isFirst.current = false;
  }, [code, lines?.first, lines?.last]);
}

interface ChunkProps { code: CodeText; index: number; first: number; end: number; isNear: boolean; lines: LineRange | null; urlOf: (lines: LineRange) => string; open: (lines: LineRange) => void }

/** Rows from `first` to before `end`. */
function Chunk({ code, index, first, end, isNear, lines, urlOf, open }: ChunkProps) {
  const text = useMemo(() => (isNear ? '' : withCodes(code.text.slice(code.starts[first], code.ends[end - 1]))), [code, first, end, isNear]);
  const height = { height: `${(end - first) * ROW}px` };
  if (!isNear) return <div class="later" data-chunk={index} style={height}>{text}</div>;
  const onClick = (event: MouseEvent) => {
    const line = Number((event.target as Element).closest<HTMLElement>('.number')?.dataset['line']);
    if (!line || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    open(linesTo(event.shiftKey ? lines : null, line));
  };
  return <div data-chunk={index} style={height} onClick={onClick}>{Array.from({ length: end - first }, (_, step) => <Row key={step} code={code} row={first + step} lines={lines} urlOf={urlOf} />)}</div>;
}

function Row({ code, row, lines, urlOf }: { code: CodeText; row: number; lines: LineRange | null; urlOf: (lines: LineRange) => string }) {
  const line = code.lines[row] ?? 0;
  const parts = useMemo(() => <Coloured code={code} row={row} />, [code, row]);
  const isStart = line !== code.lines[row - 1];
  return (
    <div class={lines && line >= lines.first && line <= lines.last ? 'line chosen' : 'line'}>
      {isStart ? <a class="number" data-line={line} href={urlOf({ first: line, last: line })} tabIndex={-1}>{line}</a> : <span class="number more" title="The line goes on" />}
      <code>{parts}</code>
    </div>
  );
}

function Coloured({ code, row }: { code: CodeText; row: number }) {
  const text = rowText(code, row);
  const parts = [];
  let at = 0;
  for (const { kind, start, end } of tokensOfRow(code, row)) {
    if (start > at) parts.push(marked(text.slice(at, start)));
    parts.push(<span key={start} class={`is-${kind}`}>{kind === 'odd' ? withCodes(text.slice(start, end)) : marked(text.slice(start, end))}</span>);
    at = end;
  }
  parts.push(marked(text.slice(at)));
  return <>{parts}</>;
}

/** A text whose invisible characters are shown as codes. */
function marked(text: string) {
  const pieces = splitAtMarks(text);
  return pieces.length === 1 ? text : pieces.map((piece, index) => (index % 2 ? <span key={index} class="mark">{withCodes(piece)}</span> : piece));
}
