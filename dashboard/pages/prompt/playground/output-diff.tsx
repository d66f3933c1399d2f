import { Group, NativeSelect, SegmentedControl, Skeleton } from '@mantine/core';
import { Suspense, useMemo, useState } from 'react';
import { Card } from '../../../components/layout/card.tsx';
import { lazyComponent } from '../../../components/loading/lazy-component.tsx';
import { sortedJson } from '../../../data/text/sorted-json.ts';
import classes from './playground.module.css';

const WordDiff = lazyComponent(() => import('../../../components/versions/word-diff.tsx'));

export interface ColumnOutput {
  readonly slot: number;
  /** The letter of its column and the version that was executed. */
  readonly title: string;
  readonly text: string;
}

/** The differences between the outputs of two columns, by words or as JSON. By default of the two newest. */
export function OutputDiff({ outputs }: { readonly outputs: readonly ColumnOutput[] }) {
  const [chosen, choose] = useState<{ readonly before?: number; readonly after?: number }>({});
  const find = (slot: number | undefined) => outputs.find((one) => one.slot === slot);
  const after = find(chosen.after) ?? outputs.at(-1);
  const others = outputs.filter((one) => one !== after);
  const before = others.find(({ slot }) => slot === chosen.before) ?? others.at(-1);
  if (!before || !after) return null;
  return (
    <Card title="Differences">
      <Group gap="sm" align="flex-end" mb="sm">
        <OutputSelect
          label="From"
          outputs={outputs}
          value={before.slot}
          onChange={(slot) =>
            choose({ before: slot, after: slot === after.slot ? before.slot : after.slot })
          }
        />
        <OutputSelect
          label="To"
          outputs={outputs}
          value={after.slot}
          onChange={(slot) =>
            choose({ after: slot, before: slot === before.slot ? after.slot : before.slot })
          }
        />
      </Group>
      <Difference before={before.text} after={after.text} />
    </Card>
  );
}

function OutputSelect(props: {
  readonly label: string;
  readonly outputs: readonly ColumnOutput[];
  readonly value: number;
  readonly onChange: (slot: number) => void;
}) {
  return (
    <NativeSelect
      size="xs"
      label={props.label}
      value={String(props.value)}
      data={props.outputs.map(({ slot, title }) => ({ value: String(slot), label: title }))}
      onChange={({ currentTarget }) => props.onChange(Number(currentTarget.value))}
    />
  );
}

type View = 'words' | 'json';

/** Two objects or lists are compared as JSON, regardless of the order of fields, unless the words are asked for. */
function Difference({ before, after }: { readonly before: string; readonly after: string }) {
  const [view, setView] = useState<View>('json');
  const json = useMemo(() => {
    const [one, other] = [sortedJson(before), sortedJson(after)];
    return one === null || other === null ? null : { before: one, after: other };
  }, [before, after]);
  const shown = json !== null && view === 'json' ? json : { before, after };
  return (
    <>
      {json !== null && (
        <SegmentedControl
          size="xs"
          mb="sm"
          aria-label="Kind of difference"
          data={[
            { value: 'json', label: 'JSON' },
            { value: 'words', label: 'Words' },
          ]}
          value={view}
          onChange={(one) => setView(one as View)}
        />
      )}
      {shown.before === shown.after ? (
        <p className={classes.note}>No difference.</p>
      ) : (
        <Suspense fallback={<Skeleton height={120} />}>
          <WordDiff {...shown} label="Differences of the outputs" />
        </Suspense>
      )}
    </>
  );
}
