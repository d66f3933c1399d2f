import type { TSchema } from 'typebox';
import { refersTo } from '../contract/shared.ts';

/** Where agents are named in a value: the names of properties, and `eachItem` for the items of a list. */
export type AgentPaths = readonly (readonly (string | typeof eachItem)[])[];

export const eachItem = Symbol('each item');

export function agentPaths(schema: TSchema | undefined): AgentPaths {
  const { properties, items } = (schema ?? {}) as {
    readonly properties?: Readonly<Record<string, TSchema>>;
    readonly items?: TSchema;
  };
  return [
    ...(schema && refersTo in schema && schema[refersTo] === 'agent' ? [[]] : []),
    ...Object.entries(properties ?? {}).flatMap(([name, property]) => under(name, property)),
    ...(items ? under(eachItem, items) : []),
  ];
}

function under(key: string | typeof eachItem, schema: TSchema): AgentPaths {
  return agentPaths(schema).map((path) => [key, ...path]);
}
