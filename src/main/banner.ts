import type { Role } from './serve.ts';

export interface Started {
  readonly role: Role;
  /** Where the API answers; `null` for a process that only works. */
  readonly url: string | null;
  /** Where the data lives. */
  readonly place: string;
  /** The owner, where this start made one; the password only where it was made up, and then never again. */
  readonly owner: { readonly email: string; readonly password?: string } | null;
}

/** What a human is told once a process is up, on standard output; the log goes to standard error. */
export function banner({ role, url, place, owner }: Started): string {
  const does = { start: 'serves and works', api: 'serves', worker: 'works' }[role];
  const rows = [
    ...(url === null
      ? []
      : [
          ['API', url],
          ['Reference', `${url}/docs`],
        ]),
    ['Data', place],
    ...(owner ? [['Owner', owner.email]] : []),
    ...(owner?.password ? [['Password', `${owner.password}   (shown this once)`]] : []),
    ['End', 'Ctrl-C'],
  ];
  const lines = rows.map(([name = '', value = '']) => `  ${name.padEnd(10)} ${value}`);
  return ['', `Cueline ${does}.`, '', ...lines, ''].join('\n');
}
