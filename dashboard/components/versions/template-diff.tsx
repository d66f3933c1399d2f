import { Skeleton } from '@mantine/core';
import { Suspense } from 'react';
import type { PromptVersion } from '../../../src/client/index.ts';
import { messagesText } from '../../data/prompts/messages.ts';
import { schemasText, schemaText } from '../../data/prompts/schemas.ts';
import { extrasText } from '../../data/prompts/version-extras.ts';
import { lazyComponent } from '../loading/lazy-component.tsx';
import classes from './template-diff.module.css';

const TextDiff = lazyComponent(() => import('./text-diff.tsx'));

/** The differences between two prompt versions: templates and model settings. */
export function TemplateDiff(props: {
  readonly before: PromptVersion;
  readonly after: PromptVersion;
  /** Tells its parts from those of another comparison on the page. */
  readonly purpose?: string;
}) {
  const { before, after } = props;
  const suffix = props.purpose ? `, ${props.purpose}` : '';
  const changed = settings.filter(([name]) => before[name] !== after[name]);
  const schemas = [
    schemasText(before.variableSchemas),
    schemasText(after.variableSchemas),
  ] as const;
  const texts = [
    ['System', before.system ?? '', after.system ?? ''],
    ['User', before.user ?? '', after.user ?? ''],
    ['Messages', messagesText(before.messages), messagesText(after.messages)],
    ['Output schema', schemaText(before.responseFormat), schemaText(after.responseFormat)],
    ['Schemas of variables', ...schemas],
    ['Tools and more settings', extrasText(before), extrasText(after)],
  ] as const;
  const differing = texts.filter(([, was, is]) => was !== is);
  return (
    <div className={classes.diff}>
      <div className={classes.labels}>
        <span>{before.promptVersionLabel}</span>
        <span>{after.promptVersionLabel}</span>
      </div>
      {differing.map(([name, was, is]) => (
        <section key={name} aria-label={`${name} template${suffix}`}>
          <h3>{name}</h3>
          <Suspense fallback={<Skeleton height={120} />}>
            <TextDiff
              before={was}
              after={is}
              beforeLabel={`${name} template of ${before.promptVersionLabel}`}
              afterLabel={`${name} template of ${after.promptVersionLabel}`}
            />
          </Suspense>
        </section>
      ))}
      {changed.length > 0 && (
        <section aria-label={`Settings${suffix}`}>
          <h3>Settings</h3>
          <dl className={classes.settings}>
            {changed.map(([name, label]) => (
              <div key={name}>
                <dt>{label}</dt>
                <dd>
                  <del>{before[name] ?? 'default'}</del>
                  <ins>{after[name] ?? 'default'}</ins>
                </dd>
              </div>
            ))}
          </dl>
        </section>
      )}
      {differing.length === 0 && changed.length === 0 && (
        <p className={classes.same}>No differences.</p>
      )}
    </div>
  );
}

const settings = [
  ['model', 'Model'],
  ['temperature', 'Temperature'],
  ['maxTokens', 'Max tokens'],
  ['topP', 'Top P'],
] as const;
