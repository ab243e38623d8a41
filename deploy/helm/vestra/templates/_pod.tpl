{{- define "vestra.name" -}}
{{- if contains "vestra" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-vestra" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "vestra.serviceAccount" -}}
{{- if .Values.serviceAccount.name }}{{ .Values.serviceAccount.name }}{{ else if .Values.serviceAccount.create }}{{ include "vestra.name" . }}{{ else }}default{{ end }}
{{- end }}

{{- define "vestra.selector" -}}
app.kubernetes.io/name: vestra
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "vestra.labels" -}}
{{ include "vestra.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "vestra.sharedClaim" -}}
{{- .Values.files.sharedVolume.existingClaim | default (printf "%s-files" (include "vestra.name" .)) }}
{{- end }}

{{/* Takes a dict: root, repository (absent: image.repository). */}}
{{- define "vestra.image" -}}
{{- $ := .root }}
{{- $repository := .repository | default $.Values.image.repository }}
{{- if $.Values.image.digest }}{{ $repository }}@{{ $.Values.image.digest }}{{ else }}{{ $repository }}:{{ $.Values.image.tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}

{{/* The settings that every process of the release has. */}}
{{- define "vestra.settings" -}}
- { name: DATABASE_URL_FILE, value: /run/secrets/vestra/database-url }
- { name: VESTRA_MASTER_KEY_FILE, value: /run/secrets/vestra/master-key }
{{- with $.Values.publicUrl }}
- { name: VESTRA_PUBLIC_URL, value: {{ . | quote }} }
{{- end }}
{{- with $.Values.trustedProxies }}
- { name: VESTRA_TRUSTED_PROXIES, value: {{ . | quote }} }
{{- end }}
{{- with $.Values.files.bucket }}
- { name: VESTRA_FILES, value: {{ . | quote }} }
{{- end }}
{{- range $name, $value := $.Values.settings }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- end }}

{{/* The volume with the address of the database and the master key. */}}
{{- define "vestra.secrets" -}}
- name: secrets
  projected:
    defaultMode: 288 # 0440
    sources:
      - secret:
          name: {{ required "database.existingSecret must name the secret that holds the address of the database" $.Values.database.existingSecret }}
          items: [{ key: {{ $.Values.database.key }}, path: database-url }]
      - secret:
          name: {{ required "masterKey.existingSecret must name the secret that holds the master key" $.Values.masterKey.existingSecret }}
          items: [{ key: {{ $.Values.masterKey.key }}, path: master-key }]
{{- end }}

{{/* A pod of one role. Takes a dict: root, role, of (the role's values), ownData (true: a claim of the pod's own named data). */}}
{{- define "vestra.pod" -}}
{{- $ := .root }}
{{- $isComputers := eq .role "computers" }}
metadata:
  labels:
    {{- include "vestra.labels" $ | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
  {{- with .of.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "vestra.serviceAccount" $ }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- with $.Values.image.pullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  # Drained, then 30 seconds for what runs, then a margin.
  terminationGracePeriodSeconds: {{ add .of.drainSeconds 45 }}
  {{- if $isComputers }}
  hostUsers: {{ .of.hostUsers }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    fsGroupChangePolicy: OnRootMismatch
    {{- if not $isComputers }}
    seccompProfile: { type: RuntimeDefault }
    {{- end }}
  {{- with .of.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .of.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .of.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "vestra.selector" $ | nindent 10 }}
          app.kubernetes.io/component: {{ .role }}
  containers:
    - name: vestra
      image: {{ include "vestra.image" (dict "root" $ "repository" .of.repository) }}
      imagePullPolicy: {{ $.Values.image.pullPolicy }}
      env:
        - name: POD_IP
          valueFrom: { fieldRef: { fieldPath: status.podIP } }
        - { name: HOST, value: 0.0.0.0 }
        - { name: PORT, value: "4600" }
        - { name: VESTRA_OPERATOR_PORT, value: "4601" }
        - { name: VESTRA_ROLE, value: {{ .role }} }
        # Where the other pods reach this one.
        - { name: VESTRA_INTERNAL_URL, value: "http://$(POD_IP):4600" }
        - { name: VESTRA_COMPUTER, value: {{ if not $.Values.computers.enabled }}"off"{{ else if $isComputers }}{{ .of.kind }}{{ else }}elsewhere{{ end }} }
        - { name: VESTRA_DRAIN_SECONDS, value: {{ .of.drainSeconds | quote }} }
        {{- include "vestra.settings" $ | nindent 8 }}
      {{- with $.Values.secretSettings.existingSecret }}
      envFrom:
        - secretRef: { name: {{ . }} }
      {{- end }}
      ports:
        - { name: http, containerPort: 4600 }
        - { name: operator, containerPort: 4601 }
      # The server migrates the database when it starts, under a lock: the first pod does it, the others wait for it here.
      startupProbe:
        httpGet: { path: /health/live, port: operator }
        periodSeconds: 5
        failureThreshold: 120
      livenessProbe:
        httpGet: { path: /health/live, port: operator }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /health/ready, port: operator }
        periodSeconds: 5
        timeoutSeconds: 5
        failureThreshold: 2
      resources:
        {{- toYaml .of.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
        {{- if $isComputers }}
        # bubblewrap makes namespaces, mounts and a fresh /proc in them; what runs inside has a filter of its own.
        procMount: Unmasked
        seccompProfile:
          {{- toYaml .of.seccompProfile | nindent 10 }}
        appArmorProfile: { type: Unconfined }
        {{- end }}
      volumeMounts:
        - { name: secrets, mountPath: /run/secrets/vestra, readOnly: true }
        - { name: tmp, mountPath: /tmp }
        - { name: data, mountPath: /data }
  volumes:
    {{- include "vestra.secrets" $ | nindent 4 }}
    - name: tmp
      emptyDir: { sizeLimit: 1Gi }
    {{- if not $.Values.files.bucket }}
    - name: data
      persistentVolumeClaim: { claimName: {{ include "vestra.sharedClaim" $ }} }
    {{- else if not .ownData }}
    - name: data
      emptyDir: { sizeLimit: 4Gi }
    {{- end }}
{{- end }}
