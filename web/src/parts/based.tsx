// The page below the name of a chain: its links get the name, its routes do not see it.
import { type ComponentChildren, options } from 'preact';
import { LocationProvider, useLocation } from 'preact-iso';
import { useMemo } from 'preact/hooks';
import { base, ofChain, onServer } from '../start/base.ts';

// Every link of the page gets the name, once: this module is the first that the page loads.
if (base) {
  const before = options.vnode;
  options.vnode = (vnode) => {
    const props = vnode.props as { href?: unknown };
    if (vnode.type === 'a' && typeof props.href === 'string' && props.href.startsWith('/') && !props.href.startsWith(`${base}/`)) props.href = onServer(props.href);
    before?.(vnode);
  };
}

/** Places without the name, for all that is in it. */
export function Based({ children }: { children: ComponentChildren }) {
  const outer = useLocation();
  const inner = useMemo(() => ({
    ...outer,
    url: ofChain(outer.url),
    path: ofChain(outer.path),
    route: (url: string, replace?: boolean) => outer.route(onServer(url), replace),
  }), [outer]);
  return base ? <LocationProvider.ctx.Provider value={inner}>{children}</LocationProvider.ctx.Provider> : <>{children}</>;
}
