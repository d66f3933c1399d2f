import { checkCondition, evaluateCondition, messageOf } from './condition.ts';
import { ConditionCost } from './condition-cost.ts';
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
  readonly #parsed = new Map<Document, unknown>();
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
      for (const step of check.steps) {
        const output = scope.output(step);
        steps[step] = { output: output && this.#parse(output) };
      }
      const data = { input: check.input ? this.#parse(scope.input) : null, steps };
      const value = this.#cost.measure(() => evaluateCondition(text, data));
      if (typeof value === 'boolean') return { kind: 'value', value };
      return { kind: 'error', message: 'The condition does not return true or false.' };
    } catch (error) {
      return { kind: 'error', message: messageOf(error) };
    }
  }

  #parse(document: Document): unknown {
    if (!this.#parsed.has(document)) {
      const json = document.inside();
      this.#cost.chargeJson(json);
      this.#parsed.set(document, conditionValue(json));
    }
    return this.#parsed.get(document);
  }
}
