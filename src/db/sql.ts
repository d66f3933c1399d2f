import { snakeCase } from './column-names.ts';

/**
 * The tag for SQL. What is inserted into a template becomes a parameter, except for SQL itself, which becomes part of the text:
 *
 *     const { rows } = await sql<{ agentId: string }>`select agent_id from keys where id = ${id}`.execute(db);
 *
 * Rows have camelCase names. `json` columns stay text, `numeric` ones are decimal strings (`database.ts`).
 */
export class Sql<Row = unknown> {
  /** The text around the values: one more than these. */
  readonly texts: readonly string[];
  readonly values: readonly unknown[];

  constructor(texts: readonly string[], values: readonly unknown[] = []) {
    this.texts = texts;
    this.values = values;
  }

  /** With numbered parameters. */
  get text(): string {
    return this.texts.reduce((before, text, index) => `${before}$${index}${text}`);
  }

  execute(db: Runner): Promise<Result<Row>> {
    return db.run(this);
  }
}

/** A connection, a transaction or a pool. */
export interface Runner {
  run<Row>(query: Sql<Row>): Promise<Result<Row>>;
}

export interface Result<Row> {
  readonly rows: Row[];
  /** Rows that were read or changed. */
  readonly rowCount: number;
}

export function sql<Row = unknown>(
  strings: TemplateStringsArray,
  ...inserted: readonly unknown[]
): Sql<Row> {
  const texts = [strings[0] ?? ''];
  const values: unknown[] = [];
  const append = (text: string) => {
    texts[texts.length - 1] += text;
  };
  for (const [index, one] of inserted.entries()) {
    if (one instanceof Sql) {
      append(one.texts[0] ?? '');
      texts.push(...one.texts.slice(1));
      values.push(...one.values);
    } else {
      values.push(one);
      texts.push('');
    }
    append(strings[index + 1] ?? '');
  }
  return new Sql(texts, values);
}

/** Text that is SQL. Never of a caller. */
sql.raw = (text: string): Sql => new Sql([text]);

/** SQL or values in a row, with `, ` or other SQL between them. */
sql.join = (items: readonly unknown[], separator: Sql = sql`, `): Sql =>
  items.reduce<Sql>(
    (joined, item, index) => (index === 0 ? sql`${item}` : sql`${joined}${separator}${item}`),
    sql``,
  );

/** The name of a column, perhaps after that of its table: `agentId`, `e.agentId`. */
sql.ref = (name: string): Sql => sql.raw(name.split('.').map(quotedName).join('.'));

/** The name of a table. */
sql.table = (name: string): Sql => sql.ref(name);

/** A constant in the text, where PostgreSQL allows no parameter. */
sql.lit = (value: string | number): Sql =>
  sql.raw(typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`);

function quotedName(name: string): string {
  return `"${snakeCase(name).replaceAll('"', '""')}"`;
}
