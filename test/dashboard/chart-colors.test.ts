import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

/** Chart colours are distinguishable from the card and from each other, even with colour blindness. */

const tokens = readFileSync(join(import.meta.dirname, '../../dashboard/theme/tokens.css'), 'utf8');

/** Colours that appear in the same chart. */
const charts = {
  runs: ['success', 'failed', 'limited', 'canceled', 'unauthorized'],
  latency: ['median', 'p95', 'p99'],
  tokens: ['input', 'output'],
  groups: ['1', '2', '3', '4', '5', '6', 'other'],
};
/** WCAG 1.4.11, non-text contrast. */
const contrastMin = 3;
/** In OKLab, where black and white are 1 apart: about five times a just noticeable difference. */
const distanceMin = 0.1;

/** Linear red, green and blue. */
type Color = readonly [number, number, number];
type Rows = readonly (readonly [number, number, number])[];

/** Machado, Oliveira and Fernandes 2009, full severity, on linear RGB. */
const eyes: Record<string, Rows> = {
  usual: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  'without green': [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  'without red': [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
};

for (const [theme, at] of [
  ['light', 1],
  ['dark', 2],
] as const) {
  const color = (token: string): Color => {
    const found = new RegExp(`--${token}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(tokens);
    assert.ok(found, token);
    const bytes = Buffer.from(String(found[at]).slice(1), 'hex');
    return [linear(bytes[0]), linear(bytes[1]), linear(bytes[2])];
  };

  for (const [chart, names] of Object.entries(charts)) {
    test(`${chart} in ${theme}: each colour is distinguishable from the card and the others`, () => {
      for (const [place, name] of names.entries()) {
        const one = color(`chart-${name}`);
        const contrast = contrastOf(one, color('card'));
        assert.ok(contrast >= contrastMin, `${name} on the card: ${contrast}`);
        for (const other of names.slice(place + 1)) {
          for (const [who, rows] of Object.entries(eyes)) {
            const apart = distance(seen(one, rows), seen(color(`chart-${other}`), rows));
            assert.ok(apart >= distanceMin, `${name} and ${other}, ${who}: ${apart}`);
          }
        }
      }
    });
  }
}

function linear(byte = 0): number {
  const part = byte / 255;
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
}

function luminance([red, green, blue]: Color): number {
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrastOf(one: Color, other: Color): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function seen(color: Color, rows: Rows): Color {
  return times(rows, color).map((part) => Math.min(1, Math.max(0, part))) as unknown as Color;
}

function times(rows: Rows, [a, b, c]: Color): Color {
  return rows.map(([x, y, z]) => x * a + y * b + z * c) as unknown as Color;
}

function distance(one: Color, other: Color): number {
  const [a, b] = [oklab(one), oklab(other)];
  return Math.hypot(...a.map((part, at) => part - (b[at] ?? 0)));
}

function oklab(color: Color): Color {
  const cones = times(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    color,
  ).map(Math.cbrt) as unknown as Color;
  return times(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    cones,
  );
}
