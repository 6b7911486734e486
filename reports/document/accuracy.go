package document

import (
	"fmt"
	"math"
)

// Validation is what the simulator says of published measurements.
type Validation struct {
	Files []ValidationFile `json:"files"`
}

// ValidationFile is a file of cases that share fitted parameters.
type ValidationFile struct {
	File   string          `json:"file"`
	Title  string          `json:"title"`
	Params int             `json:"fitted_parameters"`
	Fitted int             `json:"fitted_rows"`
	Rows   []ValidationRow `json:"rows"`

	Kept      []KeptValue `json:"not_fitted,omitempty"`
	Overrides []Override  `json:"overrides,omitempty"`
	Baselines []KV        `json:"baselines,omitempty"` // cases: what stands beside their rows
	Odd       []string    `json:"odd,omitempty"`       // of the tables
	Notes     []KV        `json:"notes,omitempty"`
}

// KeptValue is a parameter that could be fitted to the rows and was not.
type KeptValue struct {
	Label string `json:"label"`
	Value string `json:"value"`
	Why   string `json:"why"`
}

// Override is a value that cases set in place of their machine's own.
type Override struct {
	Cases   []string `json:"cases"`
	Machine string   `json:"machine"`
	Path    string   `json:"path"`
	Value   string   `json:"value"`
	Own     string   `json:"machine_has"` // empty: nothing
}

// ValidationRow is one measurement beside the simulation and a formula. Errors are
// relative; those of rates are of the rate.
type ValidationRow struct {
	Case      string  `json:"case"`
	Row       string  `json:"row"`
	Unit      string  `json:"unit"`      // of measured, simulated and baseline
	Measured  float64 `json:"measured"`  //
	Simulated float64 `json:"simulated"` //
	Error     float64 `json:"error"`     // simulated / measured - 1
	HeldOut   bool    `json:"held_out"`  // from the fit
	Fitted    bool    `json:"fitted"`    // a value that moves it comes from a fit to it
	Band      float64 `json:"band"`      // the largest error that is no failure
	Inside    bool    `json:"inside"`
	Baseline  float64 `json:"baseline,omitempty"` // a straight line fitted to the same rows; 0: there is none
	BaseError float64 `json:"baseline_error,omitempty"`
}

// Check says which number is none, if any.
func (v *Validation) Check() error {
	for _, f := range v.Files {
		if err := checkRows(f.File, f.Rows); err != nil {
			return err
		}
	}
	return nil
}

func checkRows(file string, rows []ValidationRow) error {
	for _, r := range rows {
		for _, x := range []float64{r.Measured, r.Simulated, r.Error, r.Band, r.Baseline, r.BaseError} {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("%s: %s, %s: %v is no number", file, r.Case, r.Row, x)
			}
		}
	}
	return nil
}

// Calibration is the outcome of a fit.
type Calibration struct {
	Title        string          `json:"title"`
	File         string          `json:"file"`
	Machine      string          `json:"machine"`
	Data         []string        `json:"data"`
	Wrote        []string        `json:"wrote,omitempty"` // files
	Params       []FittedValue   `json:"parameters"`
	Rows         []ValidationRow `json:"rows"`
	Fit          RowErrors       `json:"fit_errors"`
	HeldOut      RowErrors       `json:"held_out_errors"`
	Warnings     []string        `json:"warnings,omitempty"`
	Alternatives []RivalFit      `json:"alternatives,omitempty"`
}

// FittedValue is a parameter, its 95 % interval within its bounds, and whether the rows
// know it.
type FittedValue struct {
	Label     string `json:"label"`
	Cause     string `json:"cause"`
	Start     string `json:"start"`
	Value     string `json:"value"`
	Low       string `json:"low"`
	High      string `json:"high"`
	Known     bool   `json:"identified"`
	RowsMoved int    `json:"rows_moved"`
}

// RowErrors sums up relative errors without their signs.
type RowErrors struct {
	N   int     `json:"rows"`
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	Max float64 `json:"max"`
	RMS float64 `json:"rms"`
}

// RivalFit is how well another explanation of the same rows does.
type RivalFit struct {
	Name    string        `json:"name"`
	Params  []FittedValue `json:"parameters"`
	Fit     RowErrors     `json:"fit_errors"`
	HeldOut RowErrors     `json:"held_out_errors"`
}

// Check says which number is none, if any.
func (c *Calibration) Check() error {
	errors := []RowErrors{c.Fit, c.HeldOut}
	for _, a := range c.Alternatives {
		errors = append(errors, a.Fit, a.HeldOut)
	}
	for _, e := range errors {
		if x := e.P50 + e.P90 + e.Max + e.RMS; math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%s: an error of a fit is no number", c.File)
		}
	}
	return checkRows(c.File, c.Rows)
}
