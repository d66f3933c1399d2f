import type { TSchema } from 'typebox';
import { type EventType, eventTypes } from '../../core/event/event.ts';
import { eventSchema } from '../../features/events/contract/event-types.ts';
import { Execution, ExecutionDetail } from '../../features/executions/contract/execution-record.ts';
import { WorkflowRunDetail } from '../../features/workflows/contract/workflow-run-record.ts';
import type { Endpoint } from '../../http/contract/operation.ts';
import { Problem } from '../../http/contract/problem.ts';
import { endpoints } from './operations-index.ts';

/**
 * Generates the types of `client/wire.ts` as plain text from the schemas. Inferred types would
 * require users of the packaged client to install TypeBox, or silently degrade to `any`.
 */
export function wireTypes(): string {
  const operations = (Object.values(endpoints) as Endpoint[])
    .filter(({ path }) => !path.startsWith('/v1/'))
    .map((e) => `  ${e.id}: ${operationOf(e)};\n`);
  return [
    `export interface Operations {\n${operations.join('')}}\n`,
    `export type ProblemCode = ${typeOf(Problem.properties.code)};\n`,
    `export type Execution = ${typeOf(Execution)};\n`,
    `export type ExecutionDetail = ${typeOf(ExecutionDetail)};\n`,
    `export type WorkflowRunDetail = ${typeOf(WorkflowRunDetail)};\n`,
    `export interface WebhookData {\n${eventTypes.map(dataOf).join('')}}\n`,
  ].join('');
}

function dataOf(type: EventType): string {
  return `  ${JSON.stringify(type)}: ${typeOf(eventSchema(type).properties.data as TSchema)};\n`;
}

function operationOf({ method, path, query, headers, body, responses }: Endpoint): string {
  const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => `readonly ${name}: string`);
  const success = Object.entries(responses).filter(([status]) => Number(status) < 300);
  const bodies = success.map(([, schema]) => (schema === null ? 'null' : typeOf(schema)));
  const fields = [
    `route: ${JSON.stringify(`${method} ${path}`)}`,
    `params: { ${params.join('; ')} }`,
    `response: ${unionOf(bodies)}`,
    ...(query ? [`query: ${typeOf(query)}`] : []),
    ...(body ? [`body: ${typeOf(body)}`] : []),
    ...(headers?.properties['If-Match'] ? ['ifMatch: true'] : []),
  ];
  return `{ ${fields.join('; ')} }`;
}

/**
 * The JSON Schema keywords of the contract that determine a type. Keywords that only bound a value
 * are ignored.
 */
interface Schema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  /** False: a list in a query, in which one value needs no list. */
  readonly explode?: false;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly required?: readonly string[];
}

function typeOf(of: TSchema): string {
  const schema: Schema = of;
  if (schema.anyOf) return unionOf(schema.anyOf.map(typeOf));
  if (schema.enum) return unionOf(schema.enum.map((value) => JSON.stringify(value)));
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.type === undefined) return 'unknown';
  return unionOf([schema.type].flat().map((type) => typeNamed(type, schema)));
}

function typeNamed(type: string, schema: Schema): string {
  if (type === 'integer') return 'number';
  if (type === 'array') {
    const item = typeOf(schema.items ?? {});
    return schema.explode === false ? unionOf([item, `readonly ${item}[]`]) : `${item}[]`;
  }
  if (type !== 'object') return type;
  if (!schema.properties) {
    const { additionalProperties: values } = schema;
    return `{ [name: string]: ${typeof values === 'object' ? typeOf(values as TSchema) : 'unknown'} }`;
  }
  const fields = Object.entries(schema.properties).map(([name, field]) => {
    const mark = schema.required?.includes(name) ? '' : '?';
    return `${JSON.stringify(name)}${mark}: ${typeOf(field)}`;
  });
  return `{ ${fields.join('; ')} }`;
}

function unionOf(types: readonly string[]): string {
  return types.length === 1 ? String(types[0]) : `(${[...new Set(types)].join(' | ')})`;
}
