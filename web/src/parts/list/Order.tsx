// Filters and orders of a list, as links.
import { useLocation } from 'preact-iso';
import { withQuery } from './query.ts';

/** A choice of the value of one parameter. */
export function Choice({ name, choices }: { name: string; choices: [string, string][] }) {
  const { path, query } = useLocation();
  const chosen = query[name] ?? '';
  return (
    <span class="choice">{choices.map(([value, label]) => <a key={value} href={withQuery(path, query, { [name]: value, after: undefined })} aria-current={value === chosen ? 'true' : undefined}>{label}</a>)}</span>
  );
}

/** The orders of a list: their names, and the two parameters that set each. */
export type Orders = readonly (readonly [string, { sort?: string; order?: string }])[];

export function Order({ orders }: { orders: Orders }) {
  const { path, query } = useLocation();
  const none = { sort: undefined, order: undefined, after: undefined };
  const isChosen = (order: { sort?: string; order?: string }) => (query['sort'] ?? '') === (order.sort ?? '') && (query['order'] === 'asc') === (order.order === 'asc');
  return <span class="choice">{orders.map(([name, order]) => <a key={name} href={withQuery(path, query, { ...none, ...order })} aria-current={isChosen(order) ? 'true' : undefined}>{name}</a>)}</span>;
}
