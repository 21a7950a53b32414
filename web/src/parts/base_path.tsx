// Pages of a server with several chains: links get the name of the chain as their base path, routes do not see it.
import { type ComponentChildren, options } from 'preact';
import { LocationProvider, useLocation } from 'preact-iso';
import { useMemo } from 'preact/hooks';
import { base, chainPath, serverPath } from '../start/base.ts';

// Adds the base path to every link, once; this module has to be loaded before all others.
if (base) {
  const before = options.vnode;
  options.vnode = (vnode) => {
    const props = vnode.props as { href?: unknown };
    if (vnode.type === 'a' && typeof props.href === 'string' && props.href.startsWith('/') && !props.href.startsWith(`${base}/`)) props.href = serverPath(props.href);
    before?.(vnode);
  };
}

/** Gives its children locations without the base path. */
export function BasePath({ children }: { children: ComponentChildren }) {
  const outer = useLocation();
  const inner = useMemo(() => ({
    ...outer,
    url: chainPath(outer.url),
    path: chainPath(outer.path),
    route: (url: string, replace?: boolean) => outer.route(serverPath(url), replace),
  }), [outer]);
  return base ? <LocationProvider.ctx.Provider value={inner}>{children}</LocationProvider.ctx.Provider> : <>{children}</>;
}
