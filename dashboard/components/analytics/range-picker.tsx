import { Button, Group } from '@mantine/core';
import type { Preset, RangeSearch } from '../../data/analytics/range-search.ts';
import { presetLabels, type TimeRange } from '../../data/analytics/time-range.ts';
import { formatSpan } from '../../data/text/format.ts';
import { lazyComponent } from '../loading/lazy-component.tsx';
import { LoadedOnPress } from '../loading/loaded-on-press.tsx';
import { ChoiceBar } from './choice-bar.tsx';

const CustomRange = lazyComponent(() => import('./custom-range.tsx'), true);

/** Chooses a preset or a range of days. */
export function RangePicker(props: {
  readonly search: RangeSearch;
  readonly presets: readonly Preset[];
  readonly fallback: Preset;
  readonly range: TimeRange;
  /** Leaves out the custom range. */
  readonly presetsOnly?: boolean;
  readonly onChange: (search: RangeSearch) => void;
}) {
  const { search, range, onChange } = props;
  const isCustom = search.from !== undefined;
  const button = (
    <Button
      size="xs"
      fw={500}
      variant={isCustom ? 'light' : 'default'}
      aria-pressed={isCustom}
      aria-haspopup="dialog"
    >
      {isCustom ? formatSpan(range.startMs, range.endMs ?? Date.now()) : 'Custom'}
    </Button>
  );
  return (
    <Group gap="xs">
      <ChoiceBar
        label="Time range"
        choices={props.presets.map((one) => ({ value: one, label: presetLabels[one] }))}
        value={isCustom ? null : (search.range ?? props.fallback)}
        onChange={(preset) => onChange({ range: preset, from: undefined, to: undefined })}
      />
      {!props.presetsOnly && (
        <LoadedOnPress button={button}>
          {(popup) => (
            <CustomRange
              {...popup}
              range={range}
              onApply={(from, to) => onChange({ range: undefined, from, to })}
            />
          )}
        </LoadedOnPress>
      )}
    </Group>
  );
}
