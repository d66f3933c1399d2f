import { type Sql, sql } from './sql.ts';
import type { Value } from './value.ts';

/**
 * A statement whose text is constant, so that each connection prepares it once. Its parameters are functions that read their
 * values from the input:
 *
 *     const findKey = statement<{ hash: Buffer }, { id: string; agentId: string }>('find-key')`
 *       select id, agent_id from keys where hash = ${({ hash }) => hash}`;
 *     const [key] = await send(findKey, { hash });
 */
export interface Statement<Input, Row> {
  /** The name of the prepared statement; unused behind a pooler. */
  readonly name: string;
  readonly text: string;
  values(input: Input): Value[];
  /** Only in the type: the rows that it returns. */
  readonly row?: Row;
}

/** Reads the value of a parameter. */
export type Parameter<Input> = (input: Input) => Value;

/** SQL with parameters of the same input: a row set (`row-set.ts`). */
export interface Fragment<Input> extends Sql {
  readonly input?: (input: Input) => void;
}

export function statement<Input, Row = unknown>(name: string) {
  return (
    strings: TemplateStringsArray,
    ...inserted: readonly (Parameter<Input> | Fragment<Input> | Sql)[]
  ): Statement<Input, Row> => {
    const { texts, values } = sql(strings, ...inserted);
    const parameters: Parameter<Input>[] = [];
    // A parameter that occurs twice is sent once.
    const numbered = values.map((value) => {
      if (typeof value !== 'function') throw new Error(`${name}: a parameter is no function.`);
      const parameter = value as Parameter<Input>;
      const at = parameters.indexOf(parameter);
      return at >= 0 ? at + 1 : parameters.push(parameter);
    });
    return {
      name,
      text: texts.reduce((text, next, index) => `${text}$${numbered[index - 1]}${next}`),
      values: (input) => parameters.map((read) => read(input)),
    };
  };
}
