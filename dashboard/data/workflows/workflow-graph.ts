/**
 * The steps of a definition and what they wait for. It must find the same references as the server. A definition that
 * is being edited may be malformed, so nothing about its shape is assumed.
 */

export interface GraphStep {
  /** Its position in the definition. Names may be missing or not unique while they are edited. */
  readonly index: number;
  readonly name: string;
  readonly agentId: string | null;
  /** The agent by name, as the editor allows. */
  readonly agentName: string | null;
  /** The properties that the graph marks. */
  readonly marks: readonly string[];
  /** The steps that it waits for, each once. */
  readonly dependencies: readonly GraphDependency[];
}

export interface GraphDependency {
  readonly index: number;
  readonly name: string;
}

export function graphSteps(definition: unknown): GraphStep[] {
  const steps = stepsOf(definition);
  const names = steps.map(({ name }) => (typeof name === 'string' ? name : ''));
  return steps.map((step, index) => ({
    index,
    name: names[index] || `Step ${index + 1}`,
    agentId: textOf(step.agentId),
    agentName: textOf(step.agent),
    marks: marksOf(step),
    dependencies: dependenciesOf(step)
      .map((name) => ({ name, index: names.indexOf(name) }))
      .filter((one) => one.index >= 0 && one.index !== index),
  }));
}

type Fields = Readonly<Record<string, unknown>>;

/** The steps of a definition of any shape; whatever is no object counts as a step without fields. */
export function stepsOf(definition: unknown): Fields[] {
  const { steps } = fieldsOf(definition);
  return Array.isArray(steps) ? steps.map(fieldsOf) : [];
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);

function marksOf({ when, forEach, fallback, onFailure }: Fields): string[] {
  const marks = [
    typeof when === 'string' && 'when',
    forEach && 'for each',
    fallback && 'fallback',
    onFailure === 'continue' && 'may fail',
  ];
  return marks.filter((mark) => typeof mark === 'string');
}

/** The names of the steps that a step waits for, by reference or by `after`, each once. */
function dependenciesOf({ after, variables, forEach, fallback, when }: Fields): string[] {
  const found = [
    ...(Array.isArray(after) ? after.filter((one) => typeof one === 'string') : []),
    ...templateReferences([variables, fieldsOf(forEach).list, fallback]),
    ...(typeof when === 'string' ? conditionReferences(when) : []),
  ];
  return [...new Set(found)];
}

const reference = /\{\{[ \t]*steps\.([A-Za-z_][A-Za-z0-9_]*)\.output/g;

function templateReferences(value: unknown): string[] {
  if (typeof value === 'string') return [...value.matchAll(reference)].map(([, name = '']) => name);
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(templateReferences);
}

/** Quoted text is not a reference, except in `steps["name"]`. */
function conditionReferences(when: string): string[] {
  const indexed = [...when.matchAll(/\bsteps\[\s*(["'])(\w+)\1\s*\]/g)].map(
    ([, , name = '']) => name,
  );
  const bare = when.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '""');
  return [...indexed, ...[...bare.matchAll(/\bsteps\.(\w+)/g)].map(([, name = '']) => name)];
}
