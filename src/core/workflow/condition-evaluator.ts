import { checkCondition, evaluateCondition, messageOf } from './condition.ts';
import { ConditionCost } from './condition-cost.ts';
import { readName } from './condition-reads.ts';
import { conditionValue } from './condition-value.ts';
import type { Document } from './document.ts';

export type ConditionResult =
  | { readonly kind: 'value'; readonly value: boolean }
  | { readonly kind: 'error'; readonly message: string };

/** The data that a condition refers to. */
export interface ConditionScope {
  readonly input: Document;
  /** Null if there is none. */
  readonly output: (step: string) => Document | null;
}

/**
 * Evaluates the conditions of one advance of a workflow run. An advance restarts after it has loaded missing values, so the
 * conditions share one cost limit, the data is parsed once, and each condition is evaluated once.
 */
export class ConditionEvaluator {
  readonly #cost = new ConditionCost();
  readonly #parsed = new Map<string, unknown>();
  readonly #results = new Map<string, ConditionResult>();

  evaluate(text: string, scope: ConditionScope): ConditionResult {
    const result = this.#results.get(text) ?? this.#evaluate(text, scope);
    this.#results.set(text, result);
    return result;
  }

  #evaluate(text: string, scope: ConditionScope): ConditionResult {
    const check = checkCondition(text);
    if (check.problem !== null) return { kind: 'error', message: check.problem };
    try {
      const steps: Record<string, unknown> = Object.create(null);
      const nulls = new Set<string>();
      for (const step of check.steps) {
        const output = scope.output(step);
        const value = output && this.#parse(output.inside());
        steps[step] = { output: value, [readName]: value };
        const read = check.reads.includes(step) ? output?.read() : null;
        if (read?.kind === 'json')
          steps[step] = { output: value, [readName]: this.#parse(read.json) };
        else if (read) nulls.add(step);
      }
      const data = { input: check.input ? this.#parse(scope.input.inside()) : null, steps };
      const value = this.#cost.measure(() => evaluateCondition(text, data, nulls));
      if (typeof value === 'boolean') return { kind: 'value', value };
      return { kind: 'error', message: 'The condition does not return true or false.' };
    } catch (error) {
      return { kind: 'error', message: messageOf(error) };
    }
  }

  #parse(json: string): unknown {
    if (!this.#parsed.has(json)) {
      this.#cost.chargeJson(json);
      this.#parsed.set(json, conditionValue(json));
    }
    return this.#parsed.get(json);
  }
}
