// Links to the SQL page with a statement in the fragment, which browsers do not send to servers.

export const sqlLink = (statement: string): string => `/sql#${encodeURIComponent(statement)}`;

/** The statement in a fragment; empty if there is none. */
export function statementOf(fragment: string): string {
  try {
    return decodeURIComponent(fragment.replace(/^#/, ''));
  } catch {
    return '';
  }
}
