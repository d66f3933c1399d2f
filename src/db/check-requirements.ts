import { StartupFailure } from '../core/startup-failure.ts';
import { Client, type ClientConfig } from './client.ts';

/** What the database must offer, checked once at startup, so that a missing part has a message with its remedy. */

const versionMin = 15;

interface Properties {
  readonly version: string;
  readonly encoding: string;
  readonly database: string;
  readonly role: string;
  readonly search_path: string;
  /** Where tables are created; null if no schema of the search path exists or the role may not use it. */
  readonly schema: string | null;
  readonly can_create: boolean;
  /** The owner of existing tables, if the role does not have its rights. */
  readonly other_owner: string | null;
}

/** Names are quoted for SQL. Only the owner of a table may add a partition to it. */
const readProperties = `
  select current_setting('server_version') as version, current_setting('server_encoding') as encoding,
    quote_ident(current_database()) as database, quote_ident(current_user) as role,
    current_setting('search_path') as search_path, quote_ident(schema) as schema,
    has_schema_privilege(schema, 'create') as can_create,
    (select quote_ident(pg_get_userbyid(relowner)) from pg_class
      where oid = to_regclass('schema_migrations') and not pg_has_role(relowner, 'usage')) as other_owner
  from nullif(current_schema(), 'pg_catalog') as schema`;

/**
 * Throws unless the server is recent enough, its encoding is UTF8, and the role may create tables and owns those that exist.
 * All are needed at any time: every month has its own partition.
 */
export async function checkRequirements(connection: ClientConfig): Promise<void> {
  const client = new Client({ ...connection, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<Properties>(readProperties);
    const problem = rows[0] && (serverProblem(rows[0]) ?? roleProblem(rows[0]));
    if (problem) throw new StartupFailure(problem);
  } finally {
    await client.end().catch(() => {});
  }
}

function serverProblem({ version, encoding }: Properties): string | null {
  if (Number.parseInt(version, 10) < versionMin) {
    return `The database is PostgreSQL ${version}; Cueline needs ${versionMin} or later.`;
  }
  // Every other encoding lacks characters that a model may return.
  if (encoding === 'UTF8') return null;
  return (
    `The database encoding is ${encoding}; Cueline needs UTF8. ` +
    'Create a database with "createdb --encoding=UTF8 --template=template0 NAME" and move existing data with pg_dump.'
  );
}

function roleProblem(properties: Properties): string | null {
  const { database, role, schema, search_path: searchPath } = properties;
  if (schema === null) {
    return (
      `The search_path of the database role ${role} (${searchPath}) names no schema that the role may use: ` +
      `create that schema, or run "ALTER ROLE ${role} IN DATABASE ${database} SET search_path = public".`
    );
  }
  if (!properties.can_create) {
    return (
      `The database role ${role} may not create tables in the schema ${schema}: ` +
      `run "GRANT CREATE ON SCHEMA ${schema} TO ${role}" as the owner of the schema.`
    );
  }
  const owner = properties.other_owner;
  if (owner === null) return null;
  return (
    `The tables in the schema ${schema} belong to the role ${owner}: ` +
    `connect as ${owner}, or run "GRANT ${owner} TO ${role}".`
  );
}
