/** One for all calls and turns: each further one would open the sound of the device again. */
let context: AudioContext | undefined;

/**
 * Calls `heard` in each frame with the loudness of the stream, the root of the mean of its squared samples. A device whose
 * sound cannot be opened has no loudness. Returns how to stop.
 */
export function followLoudness(stream: MediaStream, heard: (loudness: number) => void): () => void {
  let frame = 0;
  let source: MediaStreamAudioSourceNode | undefined;
  // Opening the sound of a busy device can hold up the page, so whatever is about to be shown comes first.
  const start = setTimeout(() => {
    try {
      context ??= new AudioContext();
      context.resume().catch(() => {});
      const analyser = new AnalyserNode(context, { fftSize: 512 });
      source = context.createMediaStreamSource(stream);
      source.connect(analyser);
      const samples = new Float32Array(analyser.fftSize);
      frame = requestAnimationFrame(function look() {
        analyser.getFloatTimeDomainData(samples);
        heard(Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length));
        frame = requestAnimationFrame(look);
      });
    } catch {
      // The call needs no meter.
    }
  });
  return () => {
    clearTimeout(start);
    cancelAnimationFrame(frame);
    source?.disconnect();
    context?.suspend().catch(() => {});
  };
}
