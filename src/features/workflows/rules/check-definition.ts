import { checkCondition } from '../../../core/workflow/condition.ts';
import {
  referencesMax,
  type StepDefinition,
  type WorkflowDefinition,
} from '../../../core/workflow/definition.ts';
import { findReferences } from '../../../core/workflow/reference.ts';
import { waitsFor } from '../../../core/workflow/step-graph.ts';
import { type DefinitionDraft, fillDefinition, type StepDraft } from './fill-definition.ts';

/** Validates a workflow definition and reports every problem with its path. */

export interface WorkflowProblem {
  /** Null for the workflow as a whole. */
  readonly step: string | null;
  /** The path in the definition: `steps.2.when`. */
  readonly path: string;
  readonly message: string;
}

/** The properties of an agent that a step depends on. */
export interface StepAgent {
  readonly name: string;
  /**
   * Why the agent accepts no calls, as the end of a sentence that begins with its name; null if it does accept them.
   */
  readonly inactive: string | null;
  readonly requiredVariables: readonly string[];
}

/** The definition with defaults filled in, and its problems. */
export function checkWorkflow(
  draft: DefinitionDraft,
  agents: ReadonlyMap<string, StepAgent>,
): { readonly definition: WorkflowDefinition; readonly problems: WorkflowProblem[] } {
  const definition = fillDefinition(draft);
  const known = { agents, inputs: inputNames(definition), steps: namesOf(definition) };
  const problems = [
    ...inputProblems(definition),
    ...definition.steps.flatMap((step, stepIndex) => [
      ...nameProblems(definition, stepIndex),
      ...stepProblems(step, stepIndex, known),
      ...fallbackProblems(draft.steps[stepIndex], stepIndex),
    ]),
    ...valueProblems(definition.output, { step: null, path: 'output', inList: false }, known),
    ...referenceProblems(definition),
    ...cycles(definition),
  ];
  return { definition, problems };
}

/** The wire ids of all agents in a definition, each once. */
export function agentsOf(draft: DefinitionDraft): string[] {
  const ids = draft.steps.flatMap(({ agentId, fallback }) => [agentId, fallback?.agentId ?? []]);
  return [...new Set(ids.flat())];
}

interface Known {
  readonly agents: ReadonlyMap<string, StepAgent>;
  readonly inputs: ReadonlySet<string>;
  readonly steps: ReadonlySet<string>;
}

interface Location {
  readonly step: string | null;
  readonly path: string;
  /** Whether `{{item}}` and `{{index}}` are defined there. */
  readonly inList: boolean;
}

function inputNames({ input }: WorkflowDefinition): Set<string> {
  return new Set([...input.required, ...input.optional, ...Object.keys(input.defaults)]);
}

function namesOf({ steps }: WorkflowDefinition): Set<string> {
  return new Set(steps.map(({ name }) => name));
}

function inputProblems({ input }: WorkflowDefinition): WorkflowProblem[] {
  return input.optional
    .filter((name) => input.required.includes(name))
    .map((name) => {
      const message = `The input "${name}" cannot be both required and optional.`;
      return { step: null, path: 'input.optional', message };
    });
}

function nameProblems({ steps }: WorkflowDefinition, stepIndex: number): WorkflowProblem[] {
  const name = steps[stepIndex]?.name ?? '';
  if (steps.findIndex((one) => one.name === name) === stepIndex) return [];
  const message = `Another step has the name "${name}".`;
  return [{ step: name, path: `steps.${stepIndex}.name`, message }];
}

function stepProblems(step: StepDefinition, stepIndex: number, known: Known): WorkflowProblem[] {
  const { name, agentId, variables, after, when, forEach, fallback } = step;
  const path = `steps.${stepIndex}`;
  const inList = forEach !== null;
  const at = (field: string, inside = inList): Location => ({
    step: name,
    path: `${path}.${field}`,
    inList: inside,
  });
  const problems = [
    ...agentProblems(agentId, variables, at(''), known),
    ...valueProblems(variables, at('variables'), known),
    ...after.flatMap((other, index) => unknownStep(other, at(`after.${index}`), known)),
  ];
  if (when !== null) problems.push(...conditionProblems(when, at('when'), known));
  if (forEach) problems.push(...valueProblems(forEach.list, at('forEach.list', false), known));
  if (!fallback) return problems;
  if ('output' in fallback) {
    return [...problems, ...valueProblems(fallback.output, at('fallback.output'), known)];
  }
  return [
    ...problems,
    ...agentProblems(fallback.agentId, fallback.variables, at('fallback.'), known),
    ...valueProblems(fallback.variables, at('fallback.variables'), known),
  ];
}

function agentProblems(
  agentId: string,
  variables: Readonly<Record<string, unknown>>,
  { step, path }: Location,
  { agents }: Known,
): WorkflowProblem[] {
  const agent = agents.get(agentId);
  if (!agent) return [{ step, path: `${path}agentId`, message: `There is no agent ${agentId}.` }];
  const problems: WorkflowProblem[] = [];
  if (agent.inactive !== null) {
    const message = `The agent "${agent.name}" ${agent.inactive}.`;
    problems.push({ step, path: `${path}agentId`, message });
  }
  // The agent's default does not satisfy a variable it requires: admission would refuse every call.
  const given = new Map(Object.entries(variables));
  const missing = agent.requiredVariables.filter((name) => (given.get(name) ?? null) === null);
  if (missing.length > 0) {
    const message = `The agent "${agent.name}" requires variables that are not set: ${missing.join(', ')}.`;
    problems.push({ step, path: `${path}variables`, message });
  }
  return problems;
}

function valueProblems(value: unknown, location: Location, known: Known): WorkflowProblem[] {
  const { step, path, inList } = location;
  const problems = misspelledReferences(value).map((text) => {
    return { step, path, message: `${text} is not a valid reference.` };
  });
  const messages = new Set<string>();
  for (const { root, step: other, path: within } of findReferences(value)) {
    const [input] = within;
    if (root === 'steps' && !known.steps.has(other ?? '')) {
      messages.add(`There is no step "${other}".`);
    } else if (root === 'input' && input !== undefined && !known.inputs.has(String(input))) {
      messages.add(`There is no input "${input}".`);
    } else if ((root === 'item' || root === 'index') && !inList) {
      messages.add(`{{${root}}} is defined only in a step with "forEach".`);
    }
  }
  return [...problems, ...[...messages].map((message) => ({ step, path, message }))];
}

function referenceProblems({ steps, output }: WorkflowDefinition): WorkflowProblem[] {
  const values = steps.map(({ variables, forEach, fallback }) => [variables, forEach, fallback]);
  const { length } = findReferences([values, output]);
  if (length <= referencesMax) return [];
  const message = `The workflow has ${length} references. At most ${referencesMax} are allowed.`;
  return [{ step: null, path: 'steps', message }];
}

const almost = /\{\{[ \t]*(?:input|steps|item|index)\b[^{}]*\}\}/g;

/** Texts that look like references but are not, and would reach the model unchanged. */
function misspelledReferences(value: unknown): string[] {
  if (typeof value === 'string') {
    if (!value.includes('{{')) return [];
    const texts = [...value.matchAll(almost)].map(([text]) => text);
    return texts.filter((text) => findReferences(text).length === 0);
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(misspelledReferences);
}

function unknownStep(other: string, { step, path }: Location, { steps }: Known): WorkflowProblem[] {
  return steps.has(other) ? [] : [{ step, path, message: `There is no step "${other}".` }];
}

function conditionProblems(when: string, location: Location, known: Known): WorkflowProblem[] {
  const { step, path } = location;
  const { problem, steps } = checkCondition(when);
  if (problem !== null) return [{ step, path, message: problem }];
  return steps.flatMap((other) => unknownStep(other, location, known));
}

/**
 * The problems that a stored definition can have by itself: a condition that was saved under earlier rules. No run of it
 * starts until a version without them is pinned.
 */
export function storedProblems({ steps }: WorkflowDefinition): WorkflowProblem[] {
  return steps.flatMap(({ name, when }, at) => {
    const message = when === null ? null : checkCondition(when).problem;
    return message === null ? [] : [{ step: name, path: `steps.${at}.when`, message }];
  });
}

function fallbackProblems(draft: StepDraft | undefined, stepIndex: number): WorkflowProblem[] {
  const fallback = draft?.fallback;
  if (!draft || !fallback) return [];
  const wrong = (message: string) => {
    return [{ step: draft.name, path: `steps.${stepIndex}.fallback`, message }];
  };
  const hasOutput = Object.hasOwn(fallback, 'output');
  if ((fallback.agentId !== undefined) === hasOutput) {
    return wrong('A fallback is either an agent or an output.');
  }
  return hasOutput && fallback.variables
    ? wrong('A fallback with a fixed output cannot have variables.')
    : [];
}

/** Each cycle of steps that wait for each other, once. */
function cycles({ steps }: WorkflowDefinition): WorkflowProblem[] {
  const waits = new Map(steps.map((step) => [step.name, waitsFor(step)]));
  const problems: WorkflowProblem[] = [];
  const done = new Set<string>();
  const visit = (name: string, before: readonly string[]): void => {
    const start = before.indexOf(name);
    if (start >= 0) {
      const ring = before.slice(start);
      const stepIndex = steps.findIndex((step) => step.name === name);
      const message =
        ring.length === 1
          ? 'The step waits for itself.'
          : `These steps wait for each other: ${[...ring, name].join(', ')}.`;
      problems.push({ step: name, path: `steps.${stepIndex}`, message });
    }
    if (start >= 0 || done.has(name)) return;
    for (const other of waits.get(name) ?? []) visit(other, [...before, name]);
    done.add(name);
  };
  for (const { name } of steps) visit(name, []);
  return problems;
}
