// Long lists, of which only the rows near the viewport are rendered.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';

const CHUNK = 50;
/** The estimated height of a row that is not rendered, in pixels. */
const HEIGHT = 31;

/** The items of a list; `row` renders one. */
export function Chunks<T>({ items, row }: { items: T[]; row: (item: T) => ComponentChildren }) {
  const chunks = Array.from({ length: Math.ceil(items.length / CHUNK) }, (_, index) => index);
  return <>{chunks.map((index) => <Chunk key={index} items={items.slice(index * CHUNK, (index + 1) * CHUNK)} row={row} isFirst={index === 0} />)}</>;
}

function Chunk<T>({ items, row, isFirst }: { items: T[]; row: (item: T) => ComponentChildren; isFirst: boolean }) {
  const [isNear, setNear] = useState(isFirst);
  const element = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isNear || !element.current) return undefined;
    const watch = new IntersectionObserver((seen) => { if (seen.some((one) => one.isIntersecting)) setNear(true); }, { rootMargin: '600px' });
    watch.observe(element.current);
    return () => watch.disconnect();
  }, [isNear]);
  if (isNear) return <>{items.map(row)}</>;
  return <li ref={element} class="later" style={{ height: `${items.length * HEIGHT}px` }} aria-hidden="true" />;
}
