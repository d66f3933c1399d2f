/** The URL of a PostgreSQL with one or several servers, as libpq writes it: `postgres://user@a:5432,b:5433/database`. */

/** Which sessions a connection accepts: `target_session_attrs` of libpq. */
export const sessionAttributes = [
  'any',
  'read-write',
  'read-only',
  'primary',
  'standby',
  'prefer-standby',
] as const;
export type SessionAttributes = (typeof sessionAttributes)[number];

export interface Server {
  /** A name, an address without brackets, or the directory of a unix socket. */
  readonly host: string;
  readonly port: number;
}

export interface DatabaseUrl {
  /** The URL with the first of its servers only, which every parser of URLs reads. */
  readonly url: string;
  /** At least one. */
  readonly servers: readonly Server[];
  /** Null if the URL does not say. */
  readonly attributes: SessionAttributes | null;
}

const portDefault = 5432;

/** Null if it is malformed: an invalid port, a number of ports that does not match the hosts, unknown attributes. */
export function splitDatabaseUrl(text: string): DatabaseUrl | null {
  const [, start = '', list = '', path = '', search = ''] =
    /^([a-z]+:\/\/(?:[^@/?#]*@)?)([^/?#]*)([^?#]*)(.*)$/is.exec(text) ?? [];
  const query = new URLSearchParams(search);
  const attributes = query.get('target_session_attrs');
  if (attributes !== null && !isAttributes(attributes)) return null;
  const isInQuery = query.has('host');
  const servers = isInQuery ? queryServers(query) : list.split(',').map(readServer);
  if (!servers.every((server) => server !== null)) return null;
  const [first] = servers;
  if (!first) return null;
  if (servers.length === 1) return { url: text, servers, attributes };
  if (isInQuery) {
    query.set('host', first.host);
    query.set('port', String(first.port));
    return { url: `${start}${list}${path}?${query}`, servers, attributes };
  }
  return { url: `${start}${list.split(',')[0]}${path}${search}`, servers, attributes };
}

function isAttributes(text: string): text is SessionAttributes {
  return sessionAttributes.some((known) => known === text);
}

function readServer(text: string): Server | null {
  const [, bracketed, name = '', port] =
    /^(?:\[([^\]]+)\]|([^:[\]]*))(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (bracketed === undefined && name === '' && text !== '') return null;
  return withPort(bracketed ?? decodeURIComponent(name), port);
}

/** One port serves all hosts. */
function queryServers(query: URLSearchParams): (Server | null)[] {
  const hosts = (query.get('host') ?? '').split(',');
  const ports = (query.get('port') ?? '').split(',');
  if (ports.length > 1 && ports.length !== hosts.length) return [null];
  return hosts.map((host, at) => withPort(host, ports[at] ?? ports[0]));
}

function withPort(host: string, text: string | undefined): Server | null {
  const port = text ? Number(text) : portDefault;
  return port >= 1 && port <= 65_535 ? { host, port } : null;
}
