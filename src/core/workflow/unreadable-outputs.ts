import type { Unreadable } from '../json-in-text.ts';
import type { StepDefinition, WorkflowDefinition } from './definition.ts';
import { documentOf } from './document.ts';
import { findReferences, type Scope, wholeReference } from './reference.ts';
import { graphOf } from './step-graph.ts';
import { type Failure, notJson } from './step-state.ts';

/** Why something cannot be filled in: it reads into an output that is text without a single JSON object or array. */
export interface UnreadableOutput extends Failure {
  /** The step that produced the text. */
  readonly step: string;
}

/** Finds the outputs that cannot be read into. Those that may be null instead are left out. */
export class UnreadableOutputs {
  readonly #definition: WorkflowDefinition;
  readonly #scope: Scope;

  constructor(definition: WorkflowDefinition, scope: Scope) {
    this.#definition = definition;
    this.#scope = scope;
  }

  /** In the references of a value; `step` fans out over the items in the scope. */
  in(value: unknown, scope = this.#scope, step?: StepDefinition): UnreadableOutput | null {
    for (const { root, step: named, path } of findReferences(value)) {
      const producer = root === 'item' ? this.outputsIn(step) : named;
      if (producer === null) continue;
      const document = root === 'item' ? scope.item : scope.output(producer);
      const failure = this.#failure(producer, document?.unreadable(path));
      if (failure) return failure;
    }
    return null;
  }

  /** Among steps whose outputs a condition or a list reads into. */
  inSteps(steps: readonly string[]): UnreadableOutput | null {
    for (const name of steps) {
      const read = this.#scope.output(name)?.read();
      const failure = this.#failure(name, read?.kind === 'json' ? null : read?.kind);
      if (failure) return failure;
    }
    return null;
  }

  /** In the list of a step that fans out: text that it refers to as a whole is read into as well. */
  inList(list: unknown): UnreadableOutput | null {
    const source = textOf(list);
    return this.in(list) ?? (source === null ? null : this.inSteps([source]));
  }

  /** In the run's output, of a new output of this step; null if a step reads into it, because then that step fails. */
  inEnd({ name }: StepDefinition, output: string): UnreadableOutput | null {
    if (!graphOf(this.#definition).readByOutputOnly.has(name)) return null;
    const document = documentOf(output);
    return this.in(this.#definition.output, {
      ...this.#scope,
      output: (step) => (step === name ? document : null),
    });
  }

  /** The JSON in the text that a list refers to as a whole; null if it does not. */
  listIn(list: unknown): string | null {
    const source = textOf(list);
    const read = source === null ? null : this.#scope.output(source)?.read();
    return read?.kind === 'json' ? read.json : null;
  }

  /** The step whose outputs are the items that a step fans out over; null if the items are anything else. */
  outputsIn(step: StepDefinition | undefined): string | null {
    const source = step?.forEach ? textOf(step.forEach.list) : null;
    return source !== null && this.#stepOf(source)?.forEach ? source : null;
  }

  #failure(step: string, why: Unreadable | null | undefined): UnreadableOutput | null {
    if (!why || this.#stepOf(step)?.onUnreadable === 'null') return null;
    return { step, ...notJson(step, why) };
  }

  #stepOf(name: string): StepDefinition | undefined {
    return this.#definition.steps.find((one) => one.name === name);
  }
}

/** The step whose output a list is as a whole. */
function textOf(list: unknown): string | null {
  const source = wholeReference(list);
  return source === null || source.path.length > 0 ? null : source.step;
}
